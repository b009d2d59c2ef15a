"""Step 5: computes the change on Spark and lays it down as a delta, ready to apply."""

from __future__ import annotations

from dataclasses import dataclass

from pgstream.algebra.calculus.differentiate import Changed
from pgstream.algebra.operators.node import Column, Node
from pgstream.algebra.operators.parameter import Parameter
from pgstream.algebra.operators.scan import Field, Scan, Source
from pgstream.algebra.plan import Accumulated
from pgstream.algebra.top import Top
from pgstream.compile.prepare import Prepared
from pgstream.database.connection import Connection
from pgstream.database.quoting import Name
from pgstream.engine.spark.execution import Execution
from pgstream.storage.apply import Target
from pgstream.storage.names import STATE_SCHEMA, staging_table, temporary
from pgstream.storage.staged import convert, create_staging, drop_staging, load
from pgstream.storage.state import State
from pgstream.storage.top import TopRows


@dataclass
class Computation:
    """One stream table's change.

    `apply` is the committing transaction; `notes` commits at once (staging tables).
    """

    prepared: Prepared
    execution: Execution
    apply: Connection
    notes: Connection
    note: str = ""
    """What the refresh's reason says beside the decision."""
    staged: int = 0
    """How many results the executors have staged."""

    @property
    def target(self) -> Target:
        table = self.prepared.table
        return Target(
            self.apply, table.id, table.schema, table.name, table.relid,
            self.prepared.plan.columns,
        )  # fmt: skip

    def full(self, changed: Changed) -> None:
        """The difference between what is stored and the whole result."""
        plan = self.prepared.plan
        if plan.accumulated is None and plan.top is not None:
            rows = self.top_rows(plan.top)
            rows.create()
            self.read_whole(rows, changed)
            return
        if plan.accumulated is None:
            self.full_rows(changed)
            return
        state = self.state(plan.accumulated)
        state.create()
        self.lay_down(plan.full(changed, None), state.core, state.columns)
        state.replace_all()
        self.finish(plan.accumulated, state, minus_stored=True)

    def full_rows(self, changed: Changed) -> None:
        """Spark takes what is stored from the result. What another plan has stored may have other
        row ids: PostgreSQL does it then."""
        plan, is_populated = self.prepared.plan, self.prepared.table.is_populated
        if is_populated and self.prepared.renews:
            whole = temporary("whole", self.prepared.table.id)
            self.lay_down(plan.full(changed, None), whole, plan.columns)
            self.target.replace_all(whole)
            return
        stored = self.prepared.stored if is_populated else None
        self.lay_down(plan.full(changed, stored), self.target.delta, plan.columns)

    def differential(self, changed: Changed) -> bool:
        """The change of the result; False if nothing can have changed."""
        plan = self.prepared.plan
        node = plan.change(changed)
        if node is None:
            return False
        if plan.accumulated is None and plan.top is not None:
            self.change_top(self.top_rows(plan.top), node, changed)
            return True
        if plan.accumulated is None:
            self.lay_down(node, self.target.delta, plan.columns)
            return True
        state = self.state(plan.accumulated)
        if plan.accumulated.recomputes:
            self.lay_down(node, state.partial, state.keys)
            self.read_again(state, state.partial, changed)
            state.replace_groups()
        else:
            self.lay_down(node, state.partial, node.columns[:-1])
            if state.add():
                self.read_again(state, state.again, changed)
                state.overwrite_fresh()
        state.finish_core()
        self.finish(plan.accumulated, state)
        return True

    def finish(self, plan: Accumulated, state: State, minus_stored: bool = False) -> None:
        """What the touched groups, or the first of all groups, show now."""
        top = self.prepared.plan.top
        if top is None:
            self.target.finish(plan, state.core, minus_stored)
        else:
            self.top_rows(top).show_groups(plan, state)

    def change_top(self, rows: TopRows, node: Node, changed: Changed) -> None:
        """The first rows after the change; the input is read where the stored ones are too few."""
        self.lay_down(node, rows.input, rows.columns)
        if rows.change():
            rows.show()
        else:
            self.note = "the boundary moved, the input is read again"
            self.read_whole(rows, changed)

    def read_whole(self, rows: TopRows, changed: Changed) -> None:
        """The first rows, from the whole input."""
        self.lay_down(self.prepared.plan.full(changed, None), rows.whole, rows.columns)
        rows.replace()
        rows.show()

    def top_rows(self, top: Top) -> TopRows:
        return TopRows(self.target, top, self.prepared.plan.tree.columns)

    def read_again(self, state: State, groups: Name, changed: Changed) -> None:
        """The accumulators of these groups, from the sources, into `fresh`."""
        source = Source(0, "pg_temp", "groups", False)
        scan = Scan(source, tuple(Field(c.name, c.type) for c in state.keys))
        read = self.execution.leaves.small(self.apply, scan, groups, None, weighted=False)
        leaf = Parameter("touched groups", scan.columns)
        self.execution.give(leaf, read)
        self.lay_down(self.prepared.plan.groups_again(changed, leaf), state.fresh, state.columns)

    def state(self, accumulated: Accumulated) -> State:
        return State(self.apply, self.prepared.table.id, accumulated)

    def lay_down(self, node: Node, table: Name, columns: tuple[Column, ...]) -> None:
        """Runs the tree and puts its rows into a typed temporary table."""
        if self.execution.is_large(node):
            self.lay_down_large(node, table, columns)
            return
        rows = self.execution.collect(node)
        load(self.apply, table, columns, rows.table, [c.trimmed for c in rows.carriers])

    def lay_down_large(self, node: Node, table: Name, columns: tuple[Column, ...]) -> None:
        staging = staging_table(self.prepared.table.id, self.staged)
        self.staged += 1
        carriers = self.execution.stage(
            node,
            STATE_SCHEMA,
            staging._obj[-1],
            lambda types: create_staging(self.notes, staging, types),
        )
        convert(self.apply, table, columns, staging, [c.trimmed for c in carriers])
        # With the commit; a failed refresh drops it apart.
        drop_staging(self.apply, self.prepared.table.id)
