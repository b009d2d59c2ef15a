"""A day of 200 stream tables under a simulated clock: no database, no waiting.

Tables in a random graph have durations, cron expressions, 'on change' or none. Changes come by
chance, refreshes take some time and fail now and then, four run at once. A run is its seed.
"""

from __future__ import annotations

import heapq
import random
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest

from pgstream.catalog.records import StreamTable
from pgstream.schedule.admit import admit
from pgstream.schedule.cron import next_time
from pgstream.schedule.decide import Job, Moment, Pace, decide
from pgstream.schedule.retry import Retries
from pgstream.schedule.schedules import Cron, Duration, OnChange, schedule_of
from pgstream.schedule.timetable import Timetable
from scheduled import table

SCHEDULES = (
    "5m",
    "10m",
    "30m",
    "1h",
    "3h",
    "*/20 * * * *",
    "@hourly",
    "0 0 */2 * * *",
    "on change",
)
START = datetime(2026, 3, 28, 12, tzinfo=UTC)
DAY = timedelta(days=1)
PLACES, LONGEST = 4, 2.0
ZONE = "Europe/Berlin"  # where this day loses an hour
SLACK = timedelta(seconds=60)
"""What four places need for all that may be due at once."""
FAILURE_SHARE = 0.002
PACE = Pace(debounce=timedelta(seconds=0.2), spacing=timedelta(seconds=5))


def random_tables(chance: random.Random, count: int) -> list[StreamTable]:
    found = []
    for id_ in range(1, count + 1):
        above = [each for each in range(max(1, id_ - 15), id_) if chance.random() < 0.06]
        schedule = None if chance.random() < 0.25 else chance.choice(SCHEDULES)
        made = table(id_, schedule, tuple(above), sources=(chance.randrange(5000, 5040),))
        found.append(replace(made, data_timestamp=START - timedelta(seconds=chance.random())))
    return found


@dataclass
class Day:
    seed: int
    count: int = 200
    log: list[tuple[datetime, tuple[int, ...]]] = field(default_factory=list)
    failures: int = 0

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        tables = random_tables(self.chance, self.count)
        self.tables = {each.id: each for each in tables}
        self.timetable = Timetable.of(tables, ZONE)
        self.retries = Retries(self.chance.random)
        self.now = START
        self.running: list[tuple[datetime, int, Job, datetime]] = []
        self.changed: dict[int, datetime] = {}
        self.started: dict[int, datetime] = {}
        self.failed: set[int] = set()
        self.listeners = defaultdict(set)
        for id_ in self.timetable.on_change:
            for relid in self.timetable.sources(id_):
                self.listeners[relid].add(id_)
        self.next_change = self.soon(60)

    def soon(self, mean: float) -> datetime:
        return self.now + timedelta(seconds=self.chance.expovariate(1 / mean))

    def live(self) -> None:
        while self.now < START + DAY:
            look_again = self.begin()
            times = [self.next_change, START + DAY, look_again, self.retries.next_end(self.now)]
            times += [self.running[0][0]] if self.running else []
            self.now = min(time for time in times if time is not None)
            self.change()
            self.finish()
        self.check_fresh(self.tables)

    # --- what happens -----------------------------------------------------------------------

    def begin(self) -> datetime | None:
        busy = frozenset(id_ for *_, job, _ in self.running for id_ in job.covers)
        moment = Moment(
            now=self.now,
            changed=self.changed,
            started=self.started,
            resting=self.retries.waiting(self.now),
            busy=busy,
        )
        decision = decide(self.timetable, moment, PACE)
        begun, _ = admit(decision.jobs, (job for *_, job, _ in self.running), PLACES)
        for job in begun:
            self.check_begin(job, moment)
            end = self.now + timedelta(seconds=self.chance.uniform(0.01, LONGEST))
            heapq.heappush(self.running, (end, len(self.log), job, self.now))
            self.log.append((self.now, job.targets))
            for id_ in job.covers:
                self.started[id_] = self.now
                self.changed.pop(id_, None)
        return decision.look_again

    def change(self) -> None:
        if self.now >= self.next_change:
            for id_ in self.listeners[self.chance.randrange(5000, 5040)]:
                self.changed.setdefault(id_, self.now)
            self.next_change = self.soon(60)

    def finish(self) -> None:
        while self.running and self.running[0][0] <= self.now:
            _, _, job, snapshot = heapq.heappop(self.running)
            self.check_fresh(job.covers)
            if self.chance.random() < FAILURE_SHARE:
                self.fail(job, snapshot)
                continue
            for id_ in job.covers:
                self.retries.succeeded(id_)
                self.failed.discard(id_)
                self.tables[id_] = replace(self.tables[id_], data_timestamp=snapshot)
            self.timetable = self.timetable.updated([self.tables[id_] for id_ in job.covers])

    def fail(self, job: Job, snapshot: datetime) -> None:
        """One table's failure undoes the cycle; the others are tried again without it."""
        culprit = self.chance.choice(sorted(job.covers))
        self.failures += 1
        self.retries.failed(culprit, self.now, self.timetable.periods.get(culprit))
        self.failed |= {id_ for id_, read in self.timetable.upstream.items() if culprit in read}
        for id_ in set(job.covers) & set(self.timetable.on_change):
            self.changed.setdefault(id_, snapshot)

    # --- what must hold ---------------------------------------------------------------------

    def check_begin(self, job: Job, moment: Moment) -> None:
        assert not job.covers & moment.busy
        assert not job.covers & moment.resting
        for target in job.targets:
            assert self.timetable.upstream[target] <= job.covers, self.seed
            assert self.was_due(target, moment), (self.seed, target)
        places = {id_: place for place, id_ in enumerate(job.targets)}
        for target in job.targets:
            above = self.timetable.upstream[target] & set(places) - {target}
            assert all(places[each] < places[target] for each in above)

    def was_due(self, id_: int, moment: Moment) -> bool:
        """Told by other means than the timetable's: nobody is refreshed once too often."""
        last = self.tables[id_].data_timestamp
        assert last is not None
        match schedule_of(self.tables[id_].schedule):
            case OnChange():
                return id_ in moment.changed
            case Cron(expression):
                time = next_time(expression, last, ZONE)
                return time is not None and time <= self.now
            case _:
                period = self.timetable.periods[id_].total_seconds()
                if id_ not in self.timetable.aligned:
                    return (self.now - last).total_seconds() >= period
                step = max(48 * 2.0**n for n in range(-6, 20) if 48 * 2.0**n <= period)
                return self.now.timestamp() // step > last.timestamp() // step

    def check_fresh(self, ids: Iterable[int]) -> None:
        """Nothing is older than just before it is refreshed, and at the end."""
        for id_ in set(ids) - self.failed:
            each = self.tables[id_]
            last = each.data_timestamp
            assert last is not None
            match schedule_of(each.schedule):
                case Duration(length):
                    assert self.now - last <= length + SLACK, (self.seed, id_)
                case Cron(expression):
                    time = next_time(expression, last, ZONE)
                    assert time is None or self.now - time <= SLACK, (self.seed, id_)
                case OnChange() if id_ in self.changed:
                    assert self.now - self.changed[id_] <= SLACK, (self.seed, id_)


@pytest.mark.parametrize("seed", [1, 2])
def test_every_due_table_is_refreshed_in_time_in_order_and_once(seed: int) -> None:
    day = Day(seed)
    day.live()
    begun = {id_ for _, targets in day.log for id_ in targets}
    assert begun & set(day.timetable.on_change)
    assert begun & set(day.timetable.aligned)
    assert day.failures
    assert len(day.log) > 2000


def test_a_day_is_its_seed() -> None:
    one, other, another = Day(7, 60), Day(7, 60), Day(8, 60)
    for day in (one, other, another):
        day.live()
    assert one.log == other.log != another.log
