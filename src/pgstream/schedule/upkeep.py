"""Upkeep: what a worker does for buffers and history from time to time, between refreshes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from pgstream.capture.compact import compact
from pgstream.capture.limit import empty_buffer
from pgstream.catalog.trim import trim_history
from pgstream.database.connection import Connection
from pgstream.monitor.buffers import large_buffers
from pgstream.schedule.events import Event
from pgstream.settings import Settings

BUFFERS_EVERY = timedelta(minutes=1)
HISTORY_EVERY = timedelta(hours=1)


class Upkeep:
    """In memory: a new worker begins at once."""

    def __init__(self) -> None:
        self._next_buffers: datetime | None = None
        self._next_history: datetime | None = None
        self._left: dict[int, int] = {}
        """By relid, how many rows the last compaction left: it is worth while when they double."""

    def work(self, connection: Connection, settings: Settings, now: datetime) -> Iterator[Event]:
        """Yields what was done."""
        if self._next_buffers is None or now >= self._next_buffers:
            self._next_buffers = now + BUFFERS_EVERY
            yield from self._compact(connection, settings.buffer_compact_rows)
            yield from _limit(connection, settings.buffer_limit)
        if self._next_history is None or now >= self._next_history:
            self._next_history = now + HISTORY_EVERY
            if settings.history_days:
                yield from _trim(connection, settings.history_days)

    def _compact(self, connection: Connection, rows: int) -> Iterator[Event]:
        for buffer in large_buffers(connection, rows) if rows else ():
            if not buffer.exceeds(connection, 2 * self._left.get(buffer.relid, 0)):
                continue
            gone = compact(connection, buffer.relid)
            self._left[buffer.relid] = buffer.count(connection)
            if gone:
                line = f"{gone} changes of {buffer.source} cancel out and are deleted"
                yield Event("notice", line, {"source": buffer.source, "rows": gone})


def _limit(connection: Connection, rows: int) -> Iterator[Event]:
    for buffer in large_buffers(connection, rows) if rows else ():
        gone = empty_buffer(connection, buffer.relid)
        line = f"{gone} changes of {buffer.source} are dropped: buffer_limit is {rows}"
        yield Event("notice", line, {"source": buffer.source, "rows": gone})


def _trim(connection: Connection, days: int) -> Iterator[Event]:
    if gone := trim_history(connection, days):
        line = f"{gone} refreshes of more than {days} days ago are deleted from the history"
        yield Event("notice", line, {"rows": gone})
