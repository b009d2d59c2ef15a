"""One cycle: the seven steps, for stream tables and all that they read, in one transaction.

The steps compute and apply consist of stages, in `refresh/stages`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from pgstream.capture.buffers import Buffers, open_buffers
from pgstream.capture.clean import clean
from pgstream.capture.wal.settle import settle
from pgstream.catalog import store
from pgstream.catalog.records import (
    Action,
    Initiator,
    Numerics,
    RefreshResult,
    Status,
    StreamTable,
)
from pgstream.compile.preparations import Preparations
from pgstream.compile.prepare import Prepared
from pgstream.database.quoting import Name
from pgstream.engine.postgres.changes import ChangeReader
from pgstream.engine.postgres.handover import Handover
from pgstream.engine.postgres.leaves import Leaves
from pgstream.engine.postgres.queries import estimated_rows
from pgstream.engine.postgres.staging import drop_staging
from pgstream.engine.postgres.statistics import read_statistics
from pgstream.engine.spark.execution import Execution
from pgstream.engine.spark.interruption import Interruption, timeout
from pgstream.engine.spark.session import Sessions
from pgstream.engine.spark.views import Views
from pgstream.engine.ways import Ways
from pgstream.errors import (
    NumericRange,
    QueryError,
    RefreshConflict,
)
from pgstream.monitor.alerts import refresh_completed, resumed, send
from pgstream.refresh.changes import SourceChanges, find_changes
from pgstream.refresh.connections import Connections
from pgstream.refresh.crash import crash_point
from pgstream.refresh.decide import Decision, decide
from pgstream.refresh.expect import Expectation, expect, sources_of
from pgstream.refresh.explain import explain
from pgstream.refresh.failed import failed
from pgstream.refresh.settled_snapshot import settled_snapshot
from pgstream.refresh.snapshot import Snapshot
from pgstream.refresh.stages.run_stages import run_stages
from pgstream.refresh.stages.stage import Step
from pgstream.refresh.stages.stages_of import stages_of
from pgstream.refresh.stages.work import Tools, Work
from pgstream.refresh.start import start
from pgstream.settings import Settings
from pgstream.storage.state import drop_stale


@dataclass
class Pending:
    """The changes that this cycle has computed and not committed yet, by relid."""

    rows: dict[int, int] = field(default_factory=dict)
    deltas: dict[int, Name] = field(default_factory=dict)

    def add(self, work: Work) -> None:
        relid, applied = work.tools.target.relid, work.applied
        self.rows[relid] = applied.rows_inserted + applied.rows_deleted
        if work.delta is not None:
            self.deltas[relid] = work.delta.name


@dataclass
class Cycle:
    connections: Connections
    sessions: Sessions
    settings: Settings
    preparations: Preparations
    initiator: Initiator
    full_asked: bool = False
    ways: Callable[[int, int], Ways] = Ways
    interruption: Interruption = field(default_factory=Interruption)

    def run(self, ids: Sequence[int], asked: Iterable[int]) -> list[RefreshResult]:
        """Refreshes the tables, upstream first; the results in the same order. Some of them were
        asked for. If it fails, the error knows at which table."""
        connections = self.connections
        started = time.perf_counter()
        if not self.lock(ids):
            connections.reset()
            return self.skip(ids, asked)
        attempts: dict[int, int] = {}
        current = ids[-1]
        try:
            attempts = start(connections.notes, ids, self.initiator, self.settings)
            crash_point("lock")
            self.settle_capture(ids)
            snapshot, own_xid = settled_snapshot(connections, ids)
            crash_point("snapshot")
            pending = Pending()
            results = []
            tables = {t.id: t for t in store.stream_tables(connections.apply, ids)}
            buffers = self.buffers(tables.values())
            for current in ids:
                self.interruption.check()
                result = self.refresh(tables[current], buffers, snapshot, own_xid, pending)
                results.append(result)
            with connections.apply.pipeline():
                for id_, result in zip(ids, results, strict=True):
                    store.complete_history(
                        connections.apply, attempts[id_], result, snapshot.taken_at
                    )
                self.announce(results)
            crash_point("apply")
            connections.apply.commit()
            connections.reader.rollback()
        except BaseException as error:
            self.interruption.over()
            why = timeout() if self.interruption.is_asked else error
            known = failed(connections, self.settings, current, attempts, why)
            if known is error:
                raise
            raise known from error
        self.interruption.over()
        crash_point("clean")
        read = {source.relid for table in tables.values() for source in table.dependencies}
        clean(connections.notes, read)
        store.unseal(connections.notes, tables.values())
        total = (time.perf_counter() - started) * 1000
        return [replace(result, total_ms=total) for result in results]

    # --- the steps --------------------------------------------------------------------------

    def lock(self, ids: Sequence[int]) -> bool:
        row = self.connections.apply.execute(
            "SELECT bool_and(pg_try_advisory_xact_lock(pgstream._refresh_lock(), id::int))"
            " FROM (SELECT unnest(%s::bigint[]) AS id ORDER BY 1) tables",
            (list(ids),),
        ).fetchone()
        return bool(row and row[0])

    def settle_capture(self, ids: Sequence[int]) -> None:
        """Before any transaction of ours writes: making a replication slot waits for those."""
        settings = self.settings
        settle(self.connections.notes, ids, settings.cdc_mode, settings.wal_transition_timeout)

    def buffers(self, tables: Iterable[StreamTable]) -> Buffers:
        """Under the reader's snapshot; all that it sees is in them."""
        relids = {source.relid for table in tables for source in table.dependencies}
        return open_buffers(self.connections.reader, self.connections.notes, relids)

    def refresh(
        self,
        table: StreamTable,
        buffers: Buffers,
        snapshot: Snapshot,
        own_xid: int,
        pending: Pending,
    ) -> RefreshResult:
        """Steps 3 to 6 for one table."""
        changes = find_changes(buffers, table, pending.rows)
        crash_point("changes")
        decision = decide(
            table,
            changes,
            self.settings,
            self.size_of(table),
            self.full_asked,
            partial(self.expect, table, changes),
        )
        crash_point("decide")
        result = RefreshResult(table.full_name, decision.action, decision.reason)
        kept = {key: value for key, value in (table.frontier or {}).items() if key != "sources"}
        if decision.action is not Action.NO_DATA:
            result, kept = self.compute_and_apply(
                table, changes, decision, buffers, snapshot, pending
            )
        read = {source.relid: source.is_stream for source in table.dependencies}
        frontier = {**snapshot.frontier(own_xid, read), **kept}
        if not store.advance(self.connections.apply, table, frontier, snapshot.taken_at):
            raise RefreshConflict(
                f"{table.full_name} was altered while it was being refreshed.",
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
        buffers: Buffers,
        snapshot: Snapshot,
        pending: Pending,
    ) -> tuple[RefreshResult, dict[str, str]]:
        """Once more where a numeric is beyond Spark: then PostgreSQL computes on numerics. Also
        tells which plan the stored rows are of."""
        numerics = self.numerics(table)
        prepared = self.prepared(table, numerics)
        if numerics is Numerics.ON_SPARK:
            try:
                with self.savepoints(prepared):
                    result = self.attempt(prepared, changes, decision, buffers, snapshot, pending)
                    return result, prepared.mark
            except NumericRange as error:
                prepared = self.prepared_by_postgres(table, error)
            if decision.action is Action.DIFFERENTIAL:
                decision = Decision(Action.FULL, "a numeric is beyond Spark")
        decision = replace(decision, reason=f"{decision.reason}; PostgreSQL computes on numerics")
        result = self.attempt(prepared, changes, decision, buffers, snapshot, pending)
        return result, prepared.mark

    def numerics(self, table: StreamTable) -> Numerics:
        return Numerics.ON_SPARK if self.full_asked else table.numerics

    def expect(self, table: StreamTable, changes: SourceChanges) -> Expectation | None:
        """Nobody can tell how many rounds a recursion takes."""
        prepared = self.prepared(table, self.numerics(table))
        plan, stored = prepared.plan, prepared.stored
        if plan.recursions:
            return None
        statistics = read_statistics(self.connections.reader, sources_of(plan, stored))
        past = store.past_costs(self.connections.notes, table.id)
        return expect(plan, stored, changes, statistics, past, self.settings.small_path_rows)

    @contextmanager
    def savepoints(self, prepared: Prepared) -> Iterator[None]:
        """The reader's gives up its locks on tables of our own: another plan makes these again."""
        apply, reader = self.connections.apply, self.connections.reader
        own = prepared.plan.recursions or prepared.plan.hidden
        locks = reader.transaction() if own else nullcontext()
        with apply.transaction(), locks:
            yield

    def prepared(self, table: StreamTable, numerics: Numerics) -> Prepared:
        nested_state = self.settings.nested_state
        return self.preparations.of(self.connections.apply, table, numerics, nested_state)

    def prepared_by_postgres(self, table: StreamTable, error: NumericRange) -> Prepared:
        """The plan in which Spark does not compute on numerics; raises the error if there is
        none."""
        drop_staging(self.connections.notes, table.id)
        try:
            return self.prepared(table, Numerics.BY_POSTGRES)
        except QueryError as refused:
            error.detail = f"PostgreSQL does not take over. {refused.message}"
            raise error from refused

    def attempt(
        self,
        prepared: Prepared,
        changes: SourceChanges,
        decision: Decision,
        buffers: Buffers,
        snapshot: Snapshot,
        pending: Pending,
    ) -> RefreshResult:
        if prepared.renews:
            self.explain(prepared)
            if decision.action is Action.DIFFERENTIAL:
                decision = Decision(Action.FULL, "what is stored is of another plan")
        self.sessions.revive()
        handover = self.handover(prepared.table)
        stages = stages_of(prepared.plan, decision.is_whole)
        started, opening = time.perf_counter(), self.sessions.opening_s
        with self.execution(snapshot, handover) as execution:
            tools = self.tools(prepared, changes, buffers, pending, execution)
            work = run_stages(stages, Step.COMPUTE, Work(tools))
        handover.close()
        crash_point("compute")
        computed = time.perf_counter()
        work = run_stages(stages, Step.APPLY, work)
        if prepared.renews:
            drop_stale(self.connections.apply, prepared.table.id, prepared.plan)
        pending.add(work)
        return replace(
            result_of(work, decision),
            compute_ms=(computed - started - (self.sessions.opening_s - opening)) * 1000,
            apply_ms=(time.perf_counter() - computed) * 1000,
        )

    # --- pieces -----------------------------------------------------------------------------

    def explain(self, prepared: Prepared) -> None:
        """What the table's owner sees of its plan from now on."""
        apply, table = self.connections.apply, prepared.table
        store.save_explanation(apply, table.id, explain(prepared.plan, apply))
        store.save_query(apply, table.id, table.defining_query)

    def tools(
        self,
        prepared: Prepared,
        changes: SourceChanges,
        buffers: Buffers,
        pending: Pending,
        execution: Execution,
    ) -> Tools:
        table = prepared.table
        reader = self.change_reader(table, changes, buffers, pending, execution.handover)
        return Tools(prepared, changes, reader, execution, self.connections, self.settings)

    def handover(self, table: StreamTable) -> Handover:
        ways = self.ways(self.settings.small_path_rows, self.settings.small_path_bytes)
        apply, notes = self.connections.apply, self.connections.notes
        return Handover(apply, notes, table.id, self.sessions.parallelism, ways)

    def execution(self, snapshot: Snapshot, handover: Handover) -> Execution:
        ways = handover.ways
        leaves = Leaves(self.connections.reader, ways, self.sessions.parallelism)
        views = Views(self.sessions, ways, self.connections.dsn, snapshot.exported)
        return Execution(self.sessions, leaves, views, handover, self.interruption)

    def change_reader(
        self,
        table: StreamTable,
        changes: SourceChanges,
        buffers: Buffers,
        pending: Pending,
        handover: Handover,
    ) -> ChangeReader:
        frontiers = {
            d.relid: frontier
            for d in table.dependencies
            if (frontier := table.frontier_of(d.relid)) is not None
        }
        return ChangeReader(
            buffers,
            frontiers,
            changes.committed,
            pending.deltas,
            handover,
        )

    def size_of(self, table: StreamTable) -> Any:
        names = {d.relid: (d.schema, d.name) for d in table.dependencies}
        return lambda relid: estimated_rows(self.connections.reader, *names[relid])

    def announce(self, results: list[RefreshResult]) -> None:
        apply = self.connections.apply
        for result in results:
            if result.rows_inserted or result.rows_deleted:
                apply.execute("SELECT pg_notify('pgstream_refresh', %s)", (result.name,))
            if result.action is not Action.NO_DATA:
                send(apply, refresh_completed(result))

    def skip(self, ids: Sequence[int], asked: Iterable[int]) -> list[RefreshResult]:
        reason = "another refresh of it, or of a table it reads, is running"
        tables = store.stream_tables(self.connections.notes, ids)
        names = {table.id: table.full_name for table in tables}
        store.skip_history(self.connections.notes, asked, self.initiator, reason)
        return [RefreshResult(names[id_], Action.SKIP, reason) for id_ in ids if id_ in names]


def result_of(work: Work, decision: Decision) -> RefreshResult:
    """What was done, and why."""
    tools, applied = work.tools, work.applied
    action, reason = decision.action, decision.reason
    if work.is_without_effect:
        does = "do not reach the result" if work.nested else "cancel out"
        action, reason = Action.NO_DATA, f"{tools.changes.total} changes {does}"
    elif work.note:
        reason = f"{reason}; {work.note}"
    return RefreshResult(
        tools.prepared.table.full_name,
        action,
        reason,
        changes_read=0 if decision.is_whole else tools.changes.total,
        rows_read=tools.execution.leaves.rows_read,
        rows_inserted=applied.rows_inserted,
        rows_deleted=applied.rows_deleted,
        spark_actions=tools.execution.spark_actions,
        analysis_ms=tools.execution.times.analysis,
        planning_ms=tools.execution.times.planning,
        running_ms=tools.execution.times.running,
        expected_rows=decision.expected.rows if decision.expected else None,
        expected_ms=decision.expected.ms if decision.expected else None,
        stages=work.ran,
    )
