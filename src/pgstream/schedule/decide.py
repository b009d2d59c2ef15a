"""Decide: which refreshes are to begin now. A pure function of the timetable and the moment.

- Requests come first, because somebody waits; then new tables; then what is due, earliest deadline
  first.
- What is due and connected by what it reads is one job: one cycle, one snapshot, one commit.
- A job refreshes what is due and all that this reads, upstream first, and no more.
- No table is in two jobs, nor in one while it is being refreshed.
- A table that failed a moment ago rests, and so do those who read it. The others go on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from pgstream.catalog.records import Initiator
from pgstream.schedule.connected import connected
from pgstream.schedule.timetable import Due, Timetable
from pgstream.settings import Settings

BEHIND_SECONDS = 10.0
"""A table that waits for its turn for longer is told about."""
AT_ONCE = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast changes are followed."""

    debounce: timedelta = timedelta()
    """How long to collect changes after the first one."""
    spacing: timedelta = timedelta()
    """The shortest time from one start to the next."""

    @classmethod
    def of(cls, settings: Settings) -> Pace:
        return cls(
            timedelta(milliseconds=settings.on_change_debounce_ms),
            timedelta(seconds=1 / settings.on_change_max_per_second),
        )


@dataclass(frozen=True, slots=True)
class Moment:
    """What the clock and the server say now. Tables by their ids."""

    now: datetime
    requested: frozenset[int] = frozenset()
    """Somebody has asked for them and waits."""
    changed: Mapping[int, datetime] = field(default_factory=dict)
    """Tables on change whose sources have committed changes, and since when that is known."""
    started: Mapping[int, datetime] = field(default_factory=dict)
    """When tables on change were last begun to be refreshed."""
    resting: frozenset[int] = frozenset()
    """They have failed and are left alone for a while, with all who read them."""
    busy: frozenset[int] = frozenset()
    """They are being refreshed, here or by others."""
    held: frozenset[int] = frozenset()
    """Not to be begun by schedule now, but others may need them."""
    enabled: bool = True
    """Else nothing is refreshed by schedule."""


@dataclass(frozen=True, slots=True)
class Job:
    """Refreshes that are one cycle."""

    targets: tuple[int, ...]
    """The tables that are due, upstream first."""
    covers: frozenset[int]
    """All that it refreshes: these and what they read."""
    initiator: Initiator
    is_whole: bool
    """Whether a result is certainly computed as a whole."""
    deadline: datetime = AT_ONCE


@dataclass(frozen=True, slots=True)
class Decision:
    jobs: tuple[Job, ...]
    """In the order in which they are to begin. All may run at once; `admit` chooses."""
    look_again: datetime | None
    """When the clock next makes a table due."""


def decide(timetable: Timetable, moment: Moment, pace: Pace) -> Decision:
    jobs: list[Job] = []
    taken = set(moment.busy)
    for job in (*_requests(timetable, moment), *_builds(timetable, moment)):
        if not job.covers & taken:
            jobs.append(job)
            taken |= job.covers
    dues = _dues(timetable, moment, pace) if moment.enabled else {}
    now = {
        id_: due.deadline
        for id_, due in dues.items()
        if due.start <= moment.now and id_ not in moment.held
    }
    due_jobs = _due_jobs(timetable, now, taken | moment.resting)
    jobs += sorted(due_jobs, key=lambda job: (job.deadline, job.targets))
    later = (due.start for due in dues.values() if due.start > moment.now)
    return Decision(tuple(jobs), min(later, default=None))


def behind(queue: Iterable[Job], now: datetime) -> dict[int, float]:
    """Since how many seconds tables of jobs that have no place wait, if that is long."""
    return {
        id_: seconds
        for job in queue
        if job.initiator is Initiator.SCHEDULER
        and (seconds := (now - job.deadline).total_seconds()) > BEHIND_SECONDS
        for id_ in job.targets
    }


def _requests(timetable: Timetable, moment: Moment) -> Iterator[Job]:
    for id_ in sorted(moment.requested):
        if id_ in timetable.tables:
            covers = timetable.covers(id_, Initiator.MANUAL)
            yield Job((id_,), covers, Initiator.MANUAL, timetable.is_whole(covers))


def _builds(timetable: Timetable, moment: Moment) -> Iterator[Job]:
    for id_ in timetable.to_build:
        if id_ not in moment.resting | moment.held:
            covers = timetable.covers(id_, Initiator.INITIAL)
            yield Job((id_,), covers, Initiator.INITIAL, timetable.is_whole(covers))


def _dues(timetable: Timetable, moment: Moment, pace: Pace) -> Mapping[int, Due]:
    """By the clock, and by changes."""
    found = {
        id_: Due(_start(moment, pace, id_), moment.changed[id_])
        for id_ in timetable.on_change
        if id_ in moment.changed
    }
    return {**timetable.dues, **found}


def _start(moment: Moment, pace: Pace, id_: int) -> datetime:
    collected = moment.changed[id_] + pace.debounce
    last = moment.started.get(id_)
    return collected if last is None else max(collected, last + pace.spacing)


def _due_jobs(
    timetable: Timetable, due: Mapping[int, datetime], blocked: Set[int]
) -> Iterator[Job]:
    wanted = {
        id_: covers
        for id_ in due
        if not (covers := timetable.covers(id_)) & blocked and timetable.is_readable(id_)
    }
    places = {id_: place for place, id_ in enumerate(timetable.tables)}
    for group in connected(wanted):
        covers = frozenset().union(*(wanted[id_] for id_ in group))
        yield Job(
            tuple(sorted(group, key=places.__getitem__)),
            covers,
            Initiator.SCHEDULER,
            timetable.is_whole(covers),
            min(due[id_] for id_ in group),
        )
