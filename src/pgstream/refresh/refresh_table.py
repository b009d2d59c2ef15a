"""RefreshTable: the steps changes, decide, compute and apply, for one table of a cycle.

Compute and apply consist of stages, in `refresh/stages`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial

from pgstream.capture.buffers import Buffers
from pgstream.catalog import store
from pgstream.catalog.records import Action, Numerics, RefreshResult, Status, StreamTable
from pgstream.compile.prepare import Prepared
from pgstream.engine.postgres.queries import estimated_rows
from pgstream.engine.postgres.staging import drop_staging
from pgstream.engine.postgres.statistics import read_statistics
from pgstream.errors import NumericRange, QueryError, RefreshConflict
from pgstream.monitor.alerts import resumed, send
from pgstream.refresh.changes import SourceChanges, find_changes
from pgstream.refresh.connections import Connections
from pgstream.refresh.crash import crash_point
from pgstream.refresh.decide import Decision, decide
from pgstream.refresh.expect import Expectation, expect, sources_of
from pgstream.refresh.explain import explain
from pgstream.refresh.means import Means
from pgstream.refresh.pending import Pending
from pgstream.refresh.result_of import result_of
from pgstream.refresh.snapshot import Snapshot
from pgstream.refresh.stages.run_stages import run_stages
from pgstream.refresh.stages.stage import Step
from pgstream.refresh.stages.stages_of import stages_of
from pgstream.refresh.stages.work import Work
from pgstream.storage.state import drop_stale


@dataclass(frozen=True)
class RefreshTable:
    """Under the snapshot of the cycle. What it does to a table is pending for the next ones."""

    means: Means
    full_asked: bool
    snapshot: Snapshot
    own_xid: int
    buffers: Buffers
    pending: Pending = field(default_factory=Pending)

    @property
    def connections(self) -> Connections:
        return self.means.connections

    def run(self, table: StreamTable) -> RefreshResult:
        changes = find_changes(self.buffers, table, self.pending.rows)
        crash_point("changes")
        decision = decide(
            table,
            changes,
            self.means.settings,
            self.size_of(table),
            self.full_asked,
            partial(self.expect, table, changes),
        )
        crash_point("decide")
        result = RefreshResult(table.full_name, decision.action, decision.reason)
        kept = {key: value for key, value in (table.frontier or {}).items() if key != "sources"}
        if decision.action is not Action.NO_DATA:
            result, kept = self.compute_and_apply(table, changes, decision)
        read = {source.relid: source.is_stream for source in table.dependencies}
        frontier = {**self.snapshot.frontier(self.own_xid, read), **kept}
        if not store.advance(self.connections.apply, table, frontier, self.snapshot.taken_at):
            raise RefreshConflict(
                f"{table.full_name} or what it reads was altered while it was being refreshed.",
                hint="Refresh it again.",
            )
        if table.status is Status.ERROR:
            send(self.connections.apply, resumed(table.full_name))
        return result

    def compute_and_apply(
        self,
        table: StreamTable,
        changes: SourceChanges,
        decision: Decision,
    ) -> tuple[RefreshResult, dict[str, str]]:
        """Once more where a numeric is beyond Spark: then PostgreSQL computes on numerics. Also
        tells which plan the stored rows are of."""
        numerics = self.numerics(table)
        prepared = self.means.prepared(table, numerics)
        if numerics is Numerics.ON_SPARK:
            try:
                with self.savepoints(prepared):
                    result = self.attempt(prepared, changes, decision)
                    return result, prepared.mark
            except NumericRange as error:
                prepared = self.prepared_by_postgres(table, error)
            if decision.action is Action.DIFFERENTIAL:
                decision = Decision(Action.FULL, "a numeric is beyond Spark")
        decision = replace(decision, reason=f"{decision.reason}; PostgreSQL computes on numerics")
        result = self.attempt(prepared, changes, decision)
        return result, prepared.mark

    def attempt(
        self,
        prepared: Prepared,
        changes: SourceChanges,
        decision: Decision,
    ) -> RefreshResult:
        if prepared.renews:
            self.explain(prepared)
            if decision.action is Action.DIFFERENTIAL:
                decision = Decision(Action.FULL, "what is stored is of another plan")
        self.means.sessions.revive()
        handover = self.means.handover(prepared.table)
        stages = stages_of(prepared.plan, decision.is_whole)
        started, opening = time.perf_counter(), self.means.sessions.opening_s
        with self.means.execution(self.snapshot, handover) as execution:
            tools = self.means.tools(prepared, changes, self.buffers, self.pending, execution)
            work = run_stages(stages, Step.COMPUTE, Work(tools))
        handover.close()
        crash_point("compute")
        computed = time.perf_counter()
        work = run_stages(stages, Step.APPLY, work)
        if prepared.renews:
            drop_stale(self.connections.apply, prepared.table.id, prepared.plan)
        self.pending.add(work)
        return replace(
            result_of(work, decision),
            compute_ms=(computed - started - (self.means.sessions.opening_s - opening)) * 1000,
            apply_ms=(time.perf_counter() - computed) * 1000,
        )

    # --- pieces -----------------------------------------------------------------------------

    def numerics(self, table: StreamTable) -> Numerics:
        return Numerics.ON_SPARK if self.full_asked else table.numerics

    def expect(self, table: StreamTable, changes: SourceChanges) -> Expectation | None:
        """Nobody can tell how many rounds a recursion takes."""
        prepared = self.means.prepared(table, self.numerics(table))
        plan, stored = prepared.plan, prepared.stored
        if plan.recursions:
            return None
        statistics = read_statistics(self.connections.reader, sources_of(plan, stored))
        past = store.past_costs(self.connections.notes, table.id)
        return expect(plan, stored, changes, statistics, past, self.means.settings.small_path_rows)

    @contextmanager
    def savepoints(self, prepared: Prepared) -> Iterator[None]:
        """The reader's gives up its locks on tables of our own: another plan makes these again."""
        apply, reader = self.connections.apply, self.connections.reader
        own = prepared.plan.recursions or prepared.plan.hidden
        locks = reader.transaction() if own else nullcontext()
        with apply.transaction(), locks:
            yield

    def prepared_by_postgres(self, table: StreamTable, error: NumericRange) -> Prepared:
        """The plan in which Spark does not compute on numerics; raises the error if there is
        none."""
        drop_staging(self.connections.notes, table.id)
        try:
            return self.means.prepared(table, Numerics.BY_POSTGRES)
        except QueryError as refused:
            error.detail = f"PostgreSQL does not take over. {refused.message}"
            raise error from refused

    def explain(self, prepared: Prepared) -> None:
        """What the table's owner sees of its plan from now on."""
        apply, table = self.connections.apply, prepared.table
        store.save_explanation(apply, table.id, explain(prepared.plan, apply))
        store.save_query(apply, table.id, table.defining_query)

    def size_of(self, table: StreamTable) -> Callable[[int], int]:
        names = {d.relid: (d.schema, d.name) for d in table.dependencies}
        return lambda relid: estimated_rows(self.connections.reader, *names[relid])
