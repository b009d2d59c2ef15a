"""Refresher: what the faces and the scheduler call to refresh stream tables."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from pgstream.catalog import store
from pgstream.catalog.records import Action, Initiator, RefreshResult, StreamTable
from pgstream.compile.preparations import Preparations
from pgstream.engine.spark.interruption import Interruption
from pgstream.engine.spark.session import Sessions
from pgstream.engine.ways import Ways
from pgstream.monitor.verify import Verification
from pgstream.refresh.check_hidden import check_hidden
from pgstream.refresh.connections import Connections
from pgstream.refresh.cycle import Cycle
from pgstream.refresh.group import group
from pgstream.refresh.idle import note_idle
from pgstream.refresh.means import Means
from pgstream.settings import Settings


class Refresher:
    """Refreshes stream tables of one database, one cycle at a time. Each thread has its own; they
    may share the sessions and the plans."""

    def __init__(
        self,
        dsn: str,
        sessions: Sessions,
        settings: Settings,
        preparations: Preparations | None = None,
    ) -> None:
        self.dsn, self.sessions, self.settings = dsn, sessions, settings
        self.preparations = preparations or Preparations()
        self.ways: Callable[[int, int], Ways] = Ways  # tests send rows other ways
        self._connections: Connections | None = None
        self._interruption: Interruption | None = None

    def refresh(
        self, table: StreamTable, initiator: Initiator, *, full: bool = False
    ) -> RefreshResult:
        """Refreshes the table and, first, the stream tables that it reads."""
        *upstream, result = self.refresh_group([table], initiator, full=full)
        return replace(result, upstream=tuple(upstream))

    def refresh_group(
        self, tables: Sequence[StreamTable], initiator: Initiator, *, full: bool = False
    ) -> list[RefreshResult]:
        """Refreshes the tables and the stream tables that they read in one cycle: one snapshot, one
        commit. The results of all, upstream first. If one fails, nothing is done, and the
        `table_id` of the error tells which."""
        connections = self.connections()
        asked = [table.id for table in tables]
        if not full and (found := self._without_changes(asked, initiator)):
            return found
        wanted = group(tables, store.stream_tables(connections.notes), initiator)
        means = self._means()
        self._interruption = means.interruption
        return Cycle(means, initiator, full).run([each.id for each in wanted], asked)

    def _without_changes(self, ids: Sequence[int], initiator: Initiator) -> list[RefreshResult]:
        """What most refreshes are: no transaction is begun. Nothing unless all are such."""
        started = time.perf_counter()
        notes = self.connections().notes
        found = note_idle(notes, ids, self.settings, initiator, all_or_none=True)
        total = (time.perf_counter() - started) * 1000
        return [
            RefreshResult(name, Action.NO_DATA, "no changes", total_ms=total)
            for name in found.values()
        ]

    def cancel(self) -> None:
        """From another thread: the refresh under way raises RefreshTimeout. May be called again
        while it has not."""
        interruption, connections = self._interruption, self._connections
        if interruption is None or connections is None:
            return
        # What went wrong is noted through `notes`: that is left alone as soon as it may be so.
        statements = connections.notes, connections.reader, connections.apply
        cancels = [each.cancel_safe for each in statements]
        interruption.ask([*cancels, lambda: self.sessions.interrupt(interruption.tag)])

    def check_hidden(self, table: StreamTable) -> tuple[Verification, ...] | None:
        """Compares hidden tables with their aggregates; None if that would tell nothing now."""
        return check_hidden(Cycle(self._means(), Initiator.MANUAL), table.id)

    def _means(self) -> Means:
        connections, known = self.connections(), self.preparations
        return Means(connections, self.sessions, self.settings, known, self.ways)

    def connections(self) -> Connections:
        """Opened when first asked for, and again when one of them is broken."""
        if self._connections is not None and self._connections.are_broken:
            self.close()
        if self._connections is None:
            self._connections = Connections.open(self.dsn)
        return self._connections

    def close(self) -> None:
        if self._connections is not None:
            self._connections.close()
            self._connections = None
