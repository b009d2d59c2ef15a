"""One cycle: the seven steps, for stream tables and all that they read, in one transaction.

Steps that are done for each table apart are in `refresh_table`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pgstream.capture.clean import clean
from pgstream.capture.wal.settle import settle
from pgstream.catalog import store
from pgstream.catalog.records import Action, Initiator, RefreshResult
from pgstream.engine.spark.interruption import timeout
from pgstream.monitor.alerts import refresh_completed, send
from pgstream.refresh.connections import Connections
from pgstream.refresh.crash import crash_point
from pgstream.refresh.failed import failed
from pgstream.refresh.lock import lock
from pgstream.refresh.means import Means
from pgstream.refresh.refresh_table import RefreshTable
from pgstream.refresh.settled_snapshot import settled_snapshot
from pgstream.refresh.start import start


@dataclass(frozen=True)
class Cycle:
    means: Means
    initiator: Initiator
    full_asked: bool = False

    @property
    def connections(self) -> Connections:
        return self.means.connections

    def run(self, ids: Sequence[int], asked: Iterable[int]) -> list[RefreshResult]:
        """Refreshes the tables, upstream first; the results in the same order. Some of them were
        asked for. If it fails, the error knows at which table."""
        connections, interruption = self.connections, self.means.interruption
        started = time.perf_counter()
        if not lock(connections.apply, ids):
            connections.reset()
            return self.skip(ids, asked)
        attempts: dict[int, int] = {}
        current = ids[-1]
        try:
            attempts = start(connections.notes, ids, self.initiator, self.means.settings)
            crash_point("lock")
            self.settle_capture(ids)
            snapshot, own_xid = settled_snapshot(connections, ids)
            crash_point("snapshot")
            tables = {t.id: t for t in store.stream_tables(connections.apply, ids)}
            buffers = self.means.buffers(tables.values())
            each = RefreshTable(self.means, self.full_asked, snapshot, own_xid, buffers)
            results = []
            for current in ids:
                interruption.check()
                results.append(each.run(tables[current]))
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
            interruption.over()
            why = timeout() if interruption.is_asked else error
            known = failed(connections, self.means.settings, current, attempts, why)
            if known is error:
                raise
            raise known from error
        interruption.over()
        crash_point("clean")
        read = {source.relid for table in tables.values() for source in table.dependencies}
        clean(connections.notes, read)
        store.unseal(connections.notes, tables.values())
        total = (time.perf_counter() - started) * 1000
        return [replace(result, total_ms=total) for result in results]

    def settle_capture(self, ids: Sequence[int]) -> None:
        """Before any transaction of ours writes: making a replication slot waits for those."""
        settings = self.means.settings
        settle(self.connections.notes, ids, settings.cdc_mode, settings.wal_transition_timeout)

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
