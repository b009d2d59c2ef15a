"""Refresher: what the faces and the scheduler call to refresh a stream table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pgstream.catalog import store
from pgstream.catalog.records import Initiator, RefreshResult, Status, StreamTable
from pgstream.compile.preparations import Preparations
from pgstream.engine.spark.session import Sessions
from pgstream.engine.ways import Ways
from pgstream.errors import NotPopulated, StreamTableNotFound, Suspended
from pgstream.monitor.verify import Verification
from pgstream.refresh.check_hidden import check_hidden
from pgstream.refresh.connections import Connections
from pgstream.refresh.cycle import Cycle
from pgstream.refresh.graph import upstream
from pgstream.settings import Settings


class Refresher:
    """Refreshes stream tables of one database, one at a time. Each thread has its own."""

    def __init__(self, dsn: str, sessions: Sessions, settings: Settings) -> None:
        self.dsn, self.sessions, self.settings = dsn, sessions, settings
        self.preparations = Preparations()
        self.ways: Callable[[int, int], Ways] = Ways  # tests send rows other ways
        self._connections: Connections | None = None

    def refresh(
        self, table: StreamTable, initiator: Initiator, *, full: bool = False
    ) -> RefreshResult:
        """Refreshes the table and, first, the stream tables that it reads."""
        connections = self.connections()
        if table.status is Status.SUSPENDED:
            raise Suspended(
                f"{table.full_name} is suspended.",
                hint=f"Resume it with alter_stream_table('{table.full_name}', status => 'ACTIVE').",
            )
        group = self.group(table, initiator)
        cycle = self._cycle(connections, initiator, full)
        results = cycle.run([each.id for each in group])
        return replace(results[-1], upstream=tuple(results[:-1]))

    def check_hidden(self, table: StreamTable) -> tuple[Verification, ...] | None:
        """Compares hidden tables with their aggregates; None if that would tell nothing now."""
        return check_hidden(self._cycle(self.connections(), Initiator.MANUAL), table.id)

    def _cycle(self, connections: Connections, initiator: Initiator, full: bool = False) -> Cycle:
        settings, known = self.settings, self.preparations
        return Cycle(connections, self.sessions, settings, known, initiator, full, self.ways)

    def group(self, table: StreamTable, initiator: Initiator) -> list[StreamTable]:
        """What is refreshed together. A suspended table is read as it is, if it is populated."""
        everything = upstream(table, store.stream_tables(self.connections().notes))
        if not everything:
            raise StreamTableNotFound(f"{table.full_name} has been dropped.")
        resting = {Status.SUSPENDED}
        if initiator is Initiator.SCHEDULER:
            resting.add(Status.ERROR)
        for each in everything[:-1]:
            if each.status in resting and not each.is_populated:
                raise NotPopulated(
                    f"{table.full_name} reads {each.full_name}, which is {each.status} and empty.",
                    hint=f"Resume {each.full_name} first.",
                )
        return [each for each in everything[:-1] if each.status not in resting] + everything[-1:]

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
