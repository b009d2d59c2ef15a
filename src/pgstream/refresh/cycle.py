"""One cycle: the seven steps, for a stream table and all that it reads, in one transaction.

Three connections: `apply` is the committing transaction, `reader` holds the exported
snapshot, `notes` commits at once what must outlive a failure (the history of attempts).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pgstream.algebra.calculus.differentiate import Changed
from pgstream.algebra.operators.scan import Change, Part, Scan
from pgstream.capture.clean import clean
from pgstream.catalog import store
from pgstream.catalog.records import Action, Initiator, Numerics, RefreshResult, StreamTable
from pgstream.compile.preparations import Preparations
from pgstream.compile.prepare import Prepared
from pgstream.database.connection import Connection
from pgstream.engine.postgres.handover import Handover
from pgstream.engine.postgres.leaves import Leaves
from pgstream.engine.postgres.queries import estimated_rows
from pgstream.engine.rows import Rows
from pgstream.engine.spark.execution import Execution
from pgstream.engine.spark.session import Sessions
from pgstream.engine.spark.views import Views
from pgstream.engine.ways import Ways
from pgstream.errors import (
    NumericRange,
    PgStreamError,
    QueryError,
    RefreshConflict,
    SourceChanged,
)
from pgstream.monitor.explain import explain
from pgstream.refresh.changes import SourceChanges, find_changes
from pgstream.refresh.compute import Computation
from pgstream.refresh.crash import crash_point
from pgstream.refresh.decide import Decision, decide
from pgstream.refresh.known import as_known
from pgstream.refresh.recursions import Recursions
from pgstream.refresh.snapshot import Snapshot, take_snapshot
from pgstream.settings import Settings
from pgstream.storage.apply import Applied
from pgstream.storage.names import temporary
from pgstream.storage.staged import drop_handed, drop_staging


@dataclass
class Links:
    """The connections of one refresher; not shared between threads."""

    apply: Connection
    reader: Connection
    notes: Connection
    dsn: str

    def reset(self) -> None:
        for connection in (self.apply, self.reader):
            if not connection.closed:
                connection.rollback()

    def close(self) -> None:
        for connection in (self.apply, self.reader, self.notes):
            connection.close()


@dataclass
class Pending:
    """The changes that this cycle has computed and not committed yet."""

    connection: Connection
    rows: dict[int, int] = field(default_factory=dict)
    ids: dict[int, int] = field(default_factory=dict)

    def pending_relation(self, relid: int) -> Any:
        return temporary("delta", self.ids[relid])


@dataclass
class Cycle:
    links: Links
    sessions: Sessions
    settings: Settings
    preparations: Preparations
    initiator: Initiator
    full_asked: bool = False
    ways: Callable[[int], Ways] = Ways

    def run(self, ids: Sequence[int]) -> list[RefreshResult]:
        """Refreshes the tables, upstream first; the results in the same order."""
        links = self.links
        started = time.perf_counter()
        if not self.lock(ids):
            links.reset()
            return self.skip(ids)
        attempts: dict[int, int] = {}
        current = ids[-1]
        try:
            for dead in store.fail_interrupted(links.notes, ids):
                drop_staging(links.notes, dead)
                drop_handed(links.notes, dead)
            attempts = store.start_history(links.notes, ids, self.initiator)
            crash_point("lock")
            own_xid = self.own_xid()
            snapshot = take_snapshot(links.reader)
            crash_point("snapshot")
            pending = Pending(links.apply)
            results = []
            tables = {t.id: t for t in store.stream_tables(links.apply, ids)}
            for current in ids:
                result = self.refresh(tables[current], snapshot, own_xid, pending)
                store.complete_history(links.apply, attempts[current], result, snapshot.taken_at)
                results.append(result)
            self.announce(results)
            crash_point("apply")
            links.apply.commit()
            links.reader.rollback()
        except BaseException as error:
            self.failed(current, attempts, error)
            raise
        crash_point("clean")
        read = {source.relid for table in tables.values() for source in table.dependencies}
        clean(links.notes, read)
        total = (time.perf_counter() - started) * 1000
        return [replace(result, total_ms=total) for result in results]

    # --- the steps --------------------------------------------------------------------------

    def lock(self, ids: Sequence[int]) -> bool:
        row = self.links.apply.execute(
            "SELECT bool_and(pg_try_advisory_xact_lock(pgstream._refresh_lock(), id::int))"
            " FROM (SELECT unnest(%s::bigint[]) AS id ORDER BY 1) tables",
            (list(ids),),
        ).fetchone()
        return bool(row and row[0])

    def own_xid(self) -> int:
        row = self.links.apply.execute("SELECT pg_current_xact_id()::text").fetchone()
        assert row is not None
        return int(row[0])

    def refresh(
        self, table: StreamTable, snapshot: Snapshot, own_xid: int, pending: Pending
    ) -> RefreshResult:
        """Steps 3 to 6 for one table."""
        if any(source.is_dropped for source in table.dependencies):
            raise SourceChanged(
                f"A table that {table.full_name} reads has been dropped.",
                hint=f"Drop it: SELECT pgstream.drop_stream_table('{table.full_name}');",
            )
        changes = find_changes(self.links.reader, table, pending.rows)
        crash_point("changes")
        decision = decide(table, changes, self.settings, self.size_of(table), self.full_asked)
        crash_point("decide")
        result = RefreshResult(table.full_name, decision.action, decision.reason)
        numerics = table.numerics
        if decision.action is not Action.NO_DATA:
            result, numerics = self.compute_and_apply(table, changes, decision, snapshot, pending)
        relids = [source.relid for source in table.dependencies]
        frontier = snapshot.frontier(own_xid, relids)
        if numerics is Numerics.BY_POSTGRES:
            frontier["numerics"] = numerics.value
        if not store.advance(self.links.apply, table, frontier, snapshot.taken_at):
            raise RefreshConflict(
                f"{table.full_name} was altered while it was being refreshed.",
                hint="Refresh it again.",
            )
        return result

    def compute_and_apply(
        self,
        table: StreamTable,
        changes: SourceChanges,
        decision: Decision,
        snapshot: Snapshot,
        pending: Pending,
    ) -> tuple[RefreshResult, Numerics]:
        """Once more where a numeric is beyond Spark: then PostgreSQL computes on numerics."""
        numerics = Numerics.ON_SPARK if self.full_asked else table.numerics
        prepared = self.preparations.of(self.links.apply, table, numerics)
        if numerics is Numerics.ON_SPARK:
            try:
                with self.links.apply.transaction():  # a savepoint
                    return self.attempt(prepared, changes, decision, snapshot, pending), numerics
            except NumericRange as error:
                prepared = self.prepared_by_postgres(table, error)
            if decision.action is Action.DIFFERENTIAL:  # what is stored is of another plan
                decision = Decision(Action.FULL, "a numeric is beyond Spark")
        decision = replace(decision, reason=f"{decision.reason}; PostgreSQL computes on numerics")
        result = self.attempt(prepared, changes, decision, snapshot, pending)
        return result, Numerics.BY_POSTGRES

    def prepared_by_postgres(self, table: StreamTable, error: NumericRange) -> Prepared:
        """The plan in which Spark does not compute on numerics; raises the error if there is
        none."""
        drop_staging(self.links.notes, table.id)
        drop_handed(self.links.notes, table.id)
        try:
            return self.preparations.of(self.links.apply, table, Numerics.BY_POSTGRES)
        except QueryError as refused:
            error.detail = f"PostgreSQL does not take over. {refused.message}"
            raise error from refused

    def attempt(
        self,
        prepared: Prepared,
        changes: SourceChanges,
        decision: Decision,
        snapshot: Snapshot,
        pending: Pending,
    ) -> RefreshResult:
        table = prepared.table
        if prepared.renews:
            rows = explain(prepared.plan, self.links.apply)
            store.save_explanation(self.links.apply, table.id, rows)
            store.save_query(self.links.apply, table.id, prepared.table.defining_query)
        self.sessions.revive()
        leaves = self.leaves(table, changes, pending)
        handover = Handover(self.links.apply, self.links.notes, table.id)
        views = Views(self.sessions, leaves.ways, self.links.dsn, snapshot.exported)
        started = time.perf_counter()
        with Execution(self.sessions, leaves, views, handover) as execution:
            computation = Computation(prepared, execution, self.links.apply, self.links.notes)
            action, reason = self.compute(computation, changes, decision)
        handover.drop()
        crash_point("compute")
        computed = time.perf_counter()
        nothing = action is Action.NO_DATA
        applied = Applied(0, 0) if nothing else computation.target.apply()
        pending.ids[table.relid] = table.id
        pending.rows[table.relid] = applied.rows_inserted + applied.rows_deleted
        counts = leaves.counts
        return RefreshResult(
            table.full_name,
            action,
            reason,
            changes_read=changes.total if decision.action is Action.DIFFERENTIAL else 0,
            rows_read=counts.rows_read,
            rows_inserted=applied.rows_inserted,
            rows_deleted=applied.rows_deleted,
            spark_actions=counts.spark_actions,
            compute_ms=(computed - started) * 1000,
            apply_ms=(time.perf_counter() - computed) * 1000,
        )

    def compute(
        self, computation: Computation, changes: SourceChanges, decision: Decision
    ) -> tuple[Action, str]:
        """What was done, and why."""
        action, reason = decision.action, decision.reason
        changed = self.changed(computation.prepared, changes, computation.execution, decision)
        changed = Recursions(computation, self.settings.max_recursion).run(
            changed, whole=action is not Action.DIFFERENTIAL
        )
        if action is not Action.DIFFERENTIAL:
            computation.full(changed)
            return action, reason
        if not computation.differential(changed):
            return Action.NO_DATA, f"{changes.total} changes cancel out"
        return action, f"{reason}; {computation.note}" if computation.note else reason

    # --- pieces -----------------------------------------------------------------------------

    def leaves(self, table: StreamTable, changes: SourceChanges, pending: Pending) -> Leaves:
        frontiers = {
            d.relid: frontier
            for d in table.dependencies
            if (frontier := table.frontier_of(d.relid)) is not None
        }
        return Leaves(
            self.links.reader,
            frontiers,
            changes.committed,
            pending,
            self.ways(self.settings.small_path_rows),
            self.sessions.parallelism,
        )

    def changed(
        self, prepared: Prepared, changes: SourceChanges, execution: Execution, decision: Decision
    ) -> Changed:
        """Which parts of which sources changed, after cancelling changes are gone."""
        found: dict[int, frozenset[Part]] = {}
        differential = decision.action is Action.DIFFERENTIAL
        for relid in prepared.plan.sources:
            parts = set()
            if relid in changes.pending and self.remains(prepared, relid, Part.PENDING, execution):
                parts.add(Part.PENDING)
            if (
                differential
                and relid in changes.committed
                and self.remains(prepared, relid, Part.COMMITTED, execution)
            ):
                parts.add(Part.COMMITTED)
            if parts:
                found[relid] = frozenset(parts)
        return found

    def remains(self, prepared: Prepared, relid: int, part: Part, execution: Execution) -> bool:
        scans = [
            node
            for tree in prepared.plan.trees
            for node in tree.walk()
            if isinstance(node, Scan) and node.source.relid == relid
        ]
        bound = [execution.leaves.bind(Change(s, part), execution.key_values) for s in scans]
        return any(b is not None and (not isinstance(b, Rows) or b.table.num_rows) for b in bound)

    def size_of(self, table: StreamTable) -> Any:
        names = {d.relid: (d.schema, d.name) for d in table.dependencies}
        return lambda relid: estimated_rows(self.links.reader, *names[relid])

    def announce(self, results: list[RefreshResult]) -> None:
        for result in results:
            if result.rows_inserted or result.rows_deleted:
                self.links.apply.execute("SELECT pg_notify('pgstream_refresh', %s)", (result.name,))

    def skip(self, ids: Sequence[int]) -> list[RefreshResult]:
        reason = "another refresh of it, or of a table it reads, is running"
        tables = store.stream_tables(self.links.notes, ids)
        names = {table.id: table.full_name for table in tables}
        store.skip_history(self.links.notes, ids[-1], self.initiator, reason)
        return [RefreshResult(names[id_], Action.SKIP, reason) for id_ in ids if id_ in names]

    def failed(self, id_: int, attempts: dict[int, int], error: BaseException) -> None:
        """Undoes everything and writes down what went wrong."""
        links = self.links
        links.reset()
        if links.notes.closed:
            return
        known = as_known(error)
        message = str(known)
        passing = known.transient or not isinstance(error, Exception)  # such as Ctrl-C
        limit = None if passing else self.settings.max_consecutive_errors
        permanent = isinstance(error, PgStreamError) and not error.transient
        store.fail_history(links.notes, attempts.values(), message)
        store.record_failure(links.notes, id_, message, limit, permanent)
        if attempts and (target := list(attempts)[-1]) != id_:
            store.note_error(links.notes, target, message)
        for table_id in attempts:
            drop_staging(links.notes, table_id)
            drop_handed(links.notes, table_id)
