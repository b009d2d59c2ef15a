"""Timetable: when each stream table is due, as far as the catalog and the clock tell.

Made anew from each reading of the catalog. Pure: it asks nobody.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property

from pgstream.catalog.records import Initiator, Mode, Status, StreamTable
from pgstream.refresh.graph import order
from pgstream.schedule.canonical import canonical, next_multiple
from pgstream.schedule.connected import connected
from pgstream.schedule.cron import next_time
from pgstream.schedule.schedules import Calculated, Cron, Duration, OnChange, schedule_of

AT_REST = frozenset({Status.SUSPENDED, Status.ERROR})


@dataclass(frozen=True, slots=True)
class Due:
    start: datetime
    """From when on the table may be refreshed."""
    deadline: datetime
    """When its data is as old as it may get."""


@dataclass(frozen=True)
class Timetable:
    tables: Mapping[int, StreamTable]
    """By id, upstream first."""
    upstream: Mapping[int, frozenset[int]]
    """By id, the stream tables that it reads, directly or not, and itself."""
    periods: Mapping[int, timedelta]
    """How old data may get, by id. Those without a period are not in it."""
    aligned: frozenset[int]
    """Those that read, or are read by, tables with another period: they are due at multiples of
    canonical periods."""
    zone: str
    dues: Mapping[int, Due]
    """By id, of those that the clock makes due."""

    @classmethod
    def of(cls, tables: Iterable[StreamTable], zone: str) -> Timetable:
        ordered = order(tables)
        above = upstream_ids(ordered)
        periods = periods_of(ordered, above)
        known = {table.id: table for table in ordered}
        bare = cls(known, above, periods, _aligned(known, above, periods), zone, {})
        return replace(bare, dues=bare._dues(ordered))

    def updated(self, tables: Collection[StreamTable]) -> Timetable:
        """With these tables as they are now: refreshed since, or altered."""
        known = {**self.tables, **{table.id: table for table in tables}}
        if any(not _is_as_before(table, self.tables.get(table.id)) for table in tables):
            return Timetable.of(known.values(), self.zone)
        return replace(self, tables=known, dues={**self.dues, **self._dues(tables)})

    def _dues(self, tables: Iterable[StreamTable]) -> dict[int, Due]:
        found = ((table.id, self._due(table)) for table in tables)
        return {id_: due for id_, due in found if due is not None}

    def _due(self, table: StreamTable) -> Due | None:
        last = table.data_timestamp
        if table.status is not Status.ACTIVE or not table.is_populated or last is None:
            return None
        schedule = schedule_of(table.schedule)
        if isinstance(schedule, Cron):
            time = next_time(schedule.expression, last, self.zone)
            return None if time is None else Due(time, time)
        period = self.periods.get(table.id)
        try:
            if period is None:
                return None
            aligned = table.id in self.aligned
            start = next_multiple(last, canonical(period)) if aligned else last + period
            return Due(start, last + period)
        except OverflowError:  # beyond the calendar
            return None

    @cached_property
    def on_change(self) -> tuple[int, ...]:
        """Those that wait for changes."""
        return tuple(
            id_
            for id_, table in self.tables.items()
            if table.status is Status.ACTIVE
            and table.is_populated
            and isinstance(schedule_of(table.schedule), OnChange)
        )

    def covers(self, id_: int, initiator: Initiator = Initiator.SCHEDULER) -> frozenset[int]:
        """What a refresh of the table refreshes. Tables at rest are read as they are; one who
        asks by hand asks for those in ERROR, too."""
        resting = AT_REST if initiator is Initiator.SCHEDULER else {Status.SUSPENDED}
        return frozenset(
            each
            for each in self.upstream[id_]
            if each == id_ or self.tables[each].status not in resting
        )

    def is_whole(self, ids: Iterable[int]) -> bool:
        """Whether a refresh of them certainly computes the whole result of one."""
        return any(
            not table.is_populated or table.needs_reinit or table.refresh_mode is Mode.FULL
            for table in map(self.tables.__getitem__, ids)
        )

    def sources(self, id_: int) -> frozenset[int]:
        """Relids of all that a refresh of the table reads."""
        read = self.covers(id_)
        return frozenset(d.relid for each in read for d in self.tables[each].dependencies)

    def is_readable(self, id_: int) -> bool:
        """Whether nothing that it reads is at rest and was never filled."""
        others = (self.tables[each] for each in self.upstream[id_] if each != id_)
        return all(each.is_populated or each.status not in AT_REST for each in others)

    @cached_property
    def to_build(self) -> tuple[int, ...]:
        """Created but not yet populated, and reading none that is still to be built."""
        new = {
            id_
            for id_, table in self.tables.items()
            if table.status is Status.INITIALIZING and not table.is_populated
        }
        return tuple(id_ for id_ in self.tables if id_ in new and self.upstream[id_] & new == {id_})


def resumed(before: Mapping[int, StreamTable], tables: Iterable[StreamTable]) -> list[int]:
    """The ids of those that were at rest, and are not any more."""
    return [
        table.id
        for table in tables
        if table.id in before and before[table.id].status in AT_REST and table.status not in AT_REST
    ]


def _is_as_before(table: StreamTable, before: StreamTable | None) -> bool:
    """But for its data."""
    return before is not None and all(
        getattr(table, name) == getattr(before, name)
        for name in ("status", "schedule", "is_populated", "dependencies")
    )


def upstream_ids(ordered: Iterable[StreamTable]) -> dict[int, frozenset[int]]:
    """Of tables that come upstream first."""
    by_relid: dict[int, int] = {}
    found: dict[int, frozenset[int]] = {}
    for table in ordered:
        by_relid[table.relid] = table.id
        read = (by_relid[d.relid] for d in table.dependencies if d.relid in by_relid)
        found[table.id] = frozenset({table.id}).union(*(found[id_] for id_ in read))
    return found


def periods_of(
    tables: Collection[StreamTable], above: Mapping[int, frozenset[int]]
) -> dict[int, timedelta]:
    """A CALCULATED table has the shortest period of the active tables that read it, directly or
    not. Cron expressions and changes give none."""
    schedules = {table.id: schedule_of(table.schedule) for table in tables}
    found = {id_: s.length for id_, s in schedules.items() if isinstance(s, Duration)}
    for reader in tables:
        schedule = schedules[reader.id]
        if reader.status is not Status.ACTIVE or not isinstance(schedule, Duration):
            continue
        for read in above[reader.id]:
            if isinstance(schedules[read], Calculated):
                found[read] = min(schedule.length, found.get(read, schedule.length))
    return found


def _aligned(
    tables: Mapping[int, StreamTable],
    above: Mapping[int, frozenset[int]],
    periods: Mapping[int, timedelta],
) -> frozenset[int]:
    """Whose period is positive: one of 0 s has no multiples."""
    active = {id_: above[id_] for id_, table in tables.items() if table.status not in AT_REST}
    meeting: set[int] = set()
    for group in connected(active):
        members = frozenset().union(*(above[id_] for id_ in group))
        scheduled = {id_ for id_ in members if periods.get(id_)}
        if len({periods[id_] for id_ in scheduled}) > 1:
            meeting |= scheduled
    return frozenset(meeting)
