"""Watch: what a worker notices beside refreshes, told once each time that it begins."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime, timedelta

from pgstream.catalog.records import Status, StreamTable
from pgstream.database.connection import Connection
from pgstream.monitor.alerts import (
    Alert,
    buffer_growth_warning,
    reinitialize_needed,
    scheduler_falling_behind,
    send,
    slot_lag_warning,
    stale_data,
)
from pgstream.monitor.buffers import large_buffers
from pgstream.monitor.health import lagging_slots
from pgstream.schedule.duration import duration
from pgstream.settings import Settings

CAPTURE_EVERY = timedelta(minutes=1)


class Watch:
    """In memory: a new worker tells again what still holds."""

    def __init__(self) -> None:
        self._told: frozenset[tuple[str, str]] = frozenset()
        self._waiting: list[Alert] = []
        self._next_look: datetime | None = None

    def look(
        self,
        connection: Connection,
        tables: Collection[StreamTable],
        settings: Settings,
        now: datetime,
        behind: Mapping[int, float],
    ) -> None:
        """`behind`: since how many seconds tables wait for their turn, by id."""
        if self._next_look is None or now >= self._next_look:
            self._next_look = now + CAPTURE_EVERY
            self._waiting = list(waiting(connection, settings))
        late = [
            scheduler_falling_behind(table, behind[table.id])
            for table in tables
            if table.id in behind
        ]
        found = (*noticed(tables, now), *late, *self._waiting)
        holds = {subject(alert): alert for alert in found}
        for key, alert in holds.items():
            if key not in self._told:
                send(connection, alert)
        self._told = frozenset(holds)


def subject(alert: Alert) -> tuple[str, str]:
    """What happened to whom."""
    whose = ("stream_table", "source_table", "slot_name")
    return alert.event, next(alert.fields[name] for name in whose if name in alert.fields)


def waiting(connection: Connection, settings: Settings) -> Iterator[Alert]:
    """Changes that nobody reads."""
    rows = settings.buffer_warning_rows
    for buffer in large_buffers(connection, rows):
        yield buffer_growth_warning(buffer.source, rows)
    for slot, message in lagging_slots(connection, settings):
        yield slot_lag_warning(slot, message)


def noticed(tables: Collection[StreamTable], now: datetime) -> Iterator[Alert]:
    """What the catalog shows at this moment."""
    for table in tables:
        if table.needs_reinit:
            yield reinitialize_needed(table)
        period = duration(table.schedule)
        if table.status is Status.ACTIVE and period and table.data_timestamp is not None:
            age = now - table.data_timestamp
            if age > 2 * period:
                yield stale_data(table, age.total_seconds())
