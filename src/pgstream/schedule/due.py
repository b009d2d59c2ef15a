"""Which stream tables are due: a pure function of the catalog's records and the time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta

from pgstream.catalog.records import Status, StreamTable
from pgstream.refresh.graph import order, upstream
from pgstream.schedule.duration import duration


def periods(tables: Collection[StreamTable]) -> dict[int, timedelta]:
    """How often each table, by id, is to be refreshed. Those without a period are not in it.

    A CALCULATED table has the shortest period of the active tables that read it, directly or
    not. A cron schedule has none.
    """
    found = {table.id: own for table in tables if (own := duration(table.schedule)) is not None}
    calculated = {table.id for table in tables if table.schedule is None}
    for reader in tables:
        if reader.status is not Status.ACTIVE or (period := found.get(reader.id)) is None:
            continue
        for read in upstream(reader, tables)[:-1]:
            if read.id in calculated:
                found[read.id] = min(period, found.get(read.id, period))
    return found


def due(
    tables: Collection[StreamTable],
    every: Mapping[int, timedelta],
    now: datetime,
    resting: Collection[int] = (),
) -> list[StreamTable]:
    """Who is to be refreshed now, downstream first: a refresh covers what the table reads.

    `resting` are the ids of tables to leave alone for now, and with them those who read them.
    """
    return [
        table
        for table in reversed(order(tables))
        if is_due(table, every.get(table.id), now)
        and not any(each.id in resting for each in upstream(table, tables))
    ]


def is_due(table: StreamTable, period: timedelta | None, now: datetime) -> bool:
    return (
        table.status is Status.ACTIVE
        and table.is_populated
        and period is not None
        and table.data_timestamp is not None
        and now - table.data_timestamp >= period
    )


def to_build(tables: Iterable[StreamTable], resting: Collection[int] = ()) -> list[StreamTable]:
    """Tables created but not yet populated, upstream first."""
    return [
        table
        for table in order(tables)
        if table.status is Status.INITIALIZING
        and not table.is_populated
        and table.id not in resting
    ]


def on_cron(tables: Iterable[StreamTable]) -> list[StreamTable]:
    """Those whose schedule is a cron expression."""
    return [t for t in tables if t.schedule is not None and duration(t.schedule) is None]
