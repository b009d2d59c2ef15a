"""Step 5: computes the change on Spark and lays it down as a delta, ready to apply."""

from __future__ import annotations

from dataclasses import dataclass

from pgstream.algebra.differentiate import Changed
from pgstream.algebra.operators.given import Given
from pgstream.algebra.operators.node import Column, Node
from pgstream.algebra.operators.scan import Field, Scan, Source
from pgstream.algebra.plan import Accumulated
from pgstream.database.connection import Connection
from pgstream.database.quoting import Name
from pgstream.engine.execution import Execution, Rows
from pgstream.refresh.prepare import Prepared
from pgstream.storage.apply import Target
from pgstream.storage.names import STATE_SCHEMA, staging_table
from pgstream.storage.staged import convert, create_staging, drop_staging, load
from pgstream.storage.state import State


@dataclass
class Computation:
    """One stream table's change.

    `apply` is the committing transaction; `notes` commits at once (staging tables).
    """

    prepared: Prepared
    execution: Execution
    apply: Connection
    notes: Connection

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
        if plan.accumulated is None:
            stored = self.prepared.stored if self.prepared.table.is_populated else None
            self.lay_down(plan.full(changed, stored), self.target.delta, plan.columns)
            return
        state = self.state(plan.accumulated)
        state.create()
        self.lay_down(plan.full(changed, None), state.core, state.columns)
        state.replace_all()
        self.target.finish(plan.accumulated, state.core, minus_stored=True)

    def differential(self, changed: Changed) -> bool:
        """The change of the result; False if nothing can have changed."""
        plan = self.prepared.plan
        node = plan.change(changed)
        if node is None:
            return False
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
            again = plan.accumulated.has_extremes and state.find_lost_extremes()
            if again:
                self.read_again(state, state.again, changed)
            state.add()
            if again:
                state.overwrite_fresh()
        state.finish_core()
        self.target.finish(plan.accumulated, state.core)
        return True

    def read_again(self, state: State, groups: Name, changed: Changed) -> None:
        """The accumulators of these groups, from the sources, into `fresh`."""
        source = Source(0, "pg_temp", "groups", False)
        scan = Scan(source, tuple(Field(c.name, c.type) for c in state.keys))
        read = self.execution.leaves.small(self.apply, scan, groups, None, weighted=False)
        leaf = Given("touched groups", scan.columns)
        self.execution.give(leaf, Rows(read.table, read.carriers))
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
        id_ = self.prepared.table.id
        carriers = self.execution.stage(
            node,
            STATE_SCHEMA,
            f"staging_{id_}",
            lambda types: create_staging(self.notes, id_, types),
        )
        convert(self.apply, table, columns, staging_table(id_), [c.trimmed for c in carriers])
        drop_staging(self.apply, id_)  # with the commit; a failed refresh drops it apart
