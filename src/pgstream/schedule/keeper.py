"""Keeper: what a worker does beside refreshes, in a thread of its own, so that no table waits.

Tables that may not be published any more, alerts, buffers and history, and the WAL, which the
server keeps until it is decoded though nobody may refresh. What fails here is told once and stops
nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from pgstream.capture.wal.drain import drain, leave_publication
from pgstream.catalog.records import StreamTable
from pgstream.database.connection import Connection, connect
from pgstream.refresh.known import as_known
from pgstream.schedule.events import Event, Report
from pgstream.schedule.upkeep import Upkeep
from pgstream.schedule.watch import Watch
from pgstream.settings import Settings

DRAIN_EVERY = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Scene:
    """What a keeper is told."""

    tables: Collection[StreamTable]
    settings: Settings
    now: datetime
    behind: Mapping[int, float] = field(default_factory=dict)
    """Since how many seconds tables wait for their turn, by id."""


class Keeper:
    """`begin` and `work` are called by one thread."""

    def __init__(self, dsn: str, report: Report) -> None:
        self._dsn, self._report = dsn, report
        self._watch, self._upkeep = Watch(), Upkeep()
        self._drained: datetime | None = None
        self._said: set[str] = set()
        self._thread: threading.Thread | None = None
        self._connection: Connection | None = None

    def begin(self, scene: Scene) -> None:
        """In the background, unless it is still at it."""
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._apart, args=(scene,), daemon=True)
            self._thread.start()

    def work(self, connection: Connection, scene: Scene) -> None:
        now, settings = scene.now, scene.settings
        try:
            leave_publication(connection)
            self._watch.look(connection, scene.tables, settings, now, scene.behind)
            for event in self._upkeep.work(connection, settings, now):
                self._report(event)
        except Exception as error:
            self.say(Event("notice", f"upkeep failed: {as_known(error).sentence}"))
        if self._drained is None or now - self._drained >= DRAIN_EVERY:
            self._drained = now
            try:
                drain(connection)
            except Exception as error:
                self.say(Event("notice", f"the WAL is not decoded: {as_known(error).message}"))

    def say(self, event: Event) -> None:
        """Once."""
        if event.line not in self._said:
            self._said.add(event.line)
            self._report(event)

    def close(self) -> None:
        if self._thread is not None:
            self._thread.join(1.0)
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _apart(self, scene: Scene) -> None:
        try:
            if self._connection is None or self._connection.closed or self._connection.broken:
                self._connection = connect(self._dsn, application_name="pgstream keeper")
        except Exception:
            return  # the worker's own connection tells it
        self.work(self._connection, scene)
