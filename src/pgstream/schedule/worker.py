"""The worker: answers refreshes asked for in SQL, builds new tables, refreshes what is due.

It keeps nothing that matters: it may be killed, restarted, or run twice. Two workers meet at
the lock of each table, and one of them goes on to the next.

One thread, the caller's of `run`, decides; lanes refresh; a keeper does the rest. The catalog is
read at each tick, every `scheduler_interval_ms`, and when a table is created, altered or dropped.
Between ticks it looks for requests and for changes, because somebody waits for those.

Settings are read again at each tick. What `ALTER SYSTEM` sets arrives with the server's next
reload, what `ALTER DATABASE` or `ALTER ROLE` sets with the next connection: `reload` makes one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from datetime import datetime

from pgstream.catalog import store
from pgstream.catalog.records import Action, Initiator
from pgstream.database.connection import Connection, DatabaseError, server_settings
from pgstream.engine.spark.session import Sessions
from pgstream.errors import NotPopulated, PgStreamError, SettingError, Suspended
from pgstream.refresh.idle import note_idle
from pgstream.refresh.known import as_known
from pgstream.schedule.admit import admit
from pgstream.schedule.bell import Bell
from pgstream.schedule.decide import Decision, Job, Moment, Pace, behind, decide
from pgstream.schedule.events import Event, Report, failed, idle_tables, results_told
from pgstream.schedule.keeper import Keeper, Scene
from pgstream.schedule.lanes import Lanes, Outcome
from pgstream.schedule.locks import connect_worker
from pgstream.schedule.requests import Requests
from pgstream.schedule.retry import Retries
from pgstream.schedule.server_clock import ServerClock
from pgstream.schedule.timetable import Timetable, resumed
from pgstream.schedule.unstarted import write_unstarted
from pgstream.schedule.wake import Wake
from pgstream.settings import DECLARED, Settings

RECONNECT_SECONDS, LONGEST_RECONNECT_SECONDS = 1.0, 5.0
BUSY_SECONDS = 0.05
"""Between two looks while all lanes refresh: nothing could begin, but some may come first."""
ALIVE_SECONDS = 60.0
"""A loop that has not come round for so long hangs."""

Clock = Callable[[], datetime]


class Worker:
    """One thread calls `run`; `stop` and `reload` may be called from any, or from a signal
    handler.

    Given `settings` never change. Without a `clock` it is the server's: so are the timestamps
    it is compared with.
    """

    def __init__(
        self,
        dsn: str,
        sessions: Sessions,
        report: Report = lambda event: None,
        settings: Settings | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.dsn, self.sessions, self.report = dsn, sessions, report
        self.fixed = settings
        self.settings = settings or sessions.settings
        self._server_clock = ServerClock()
        self.clock = clock or self._server_clock
        self.retries = Retries()
        self.failures = 0
        self.timetable = Timetable.of((), self.settings.cron_timezone)
        self.wake = Wake()
        self._bell = Bell()
        self.lanes = Lanes(dsn, sessions, self._bell.ring)
        self.keeper = Keeper(dsn, lambda event: self.report(event))  # tests replace it
        self._stopping = threading.Event()
        self._reloading = threading.Event()
        self._connection: Connection | None = None
        self.requests = Requests()
        self._changed: dict[int, datetime] = {}
        self._started: dict[int, datetime] = {}
        self._held: set[int] = set()  # not to be begun by schedule before the next tick
        self._skipped: set[int] = set()  # not to be begun at all before the next tick
        self._stirred: set[int] = set()  # known not to be idle
        self._queue: tuple[Job, ...] = ()  # no place for them yet
        self._look_again: datetime | None = None
        self._restless = True  # something has happened since the last decision
        self._last_round = self._looked = time.monotonic()

    # --- life -------------------------------------------------------------------------------

    def open(self) -> None:
        """Connects, and tells SQL callers that a worker is there."""
        self._connection = connect_worker(self.dsn)

    def start_spark(self) -> None:
        self.report(Event("starting", "starting Spark …"))
        started = time.perf_counter()
        _ = self.sessions.small
        seconds = time.perf_counter() - started
        self.report(Event("ready", f"ready ({seconds:.1f} s)", {"seconds": round(seconds, 1)}))

    def run(self) -> None:
        """Works until `stop`. A lost connection is opened again."""
        wait = RECONNECT_SECONDS
        try:
            while not self.stopping:
                self._last_round = time.monotonic()
                try:
                    if self._connection is None:
                        self.open()
                    wait = RECONNECT_SECONDS
                    self._loop()
                except Exception as error:
                    self._lost(error, wait)
                    self._stopping.wait(wait)
                    wait = min(2 * wait, LONGEST_RECONNECT_SECONDS)
            self.lanes.finish(self.settings.shutdown_timeout, self._bell, self._tell_outcome)
        finally:
            self.close()

    def stop(self) -> None:
        """Ends `run` after the refreshes that are under way; these have `shutdown_timeout`."""
        self._stopping.set()
        self._bell.ring()

    def reload(self) -> None:
        """Reads the settings again, all of them, over new connections."""
        self._reloading.set()
        self._bell.ring()

    @property
    def stopping(self) -> bool:
        return self._stopping.is_set()

    @property
    def is_alive(self) -> bool:
        """Whether it comes round."""
        return time.monotonic() - self._last_round < ALIVE_SECONDS

    @property
    def is_ready(self) -> bool:
        """Whether it is connected and takes work."""
        return self._connection is not None and not self.stopping

    def close(self) -> None:
        self.lanes.end()
        self.keeper.close()
        self._disconnect()
        self._bell.close()

    def _loop(self) -> None:
        next_tick = time.monotonic()
        while not self.stopping:
            self._last_round = time.monotonic()
            if self._reloading.is_set():
                self._reconnect()
                next_tick = time.monotonic()
            if time.monotonic() >= next_tick:
                self._read()
                self.keeper.begin(self._scene())
                next_tick = time.monotonic() + self.settings.scheduler_interval_ms / 1000
            self._collect()
            self._begin_if_due()  # what waits for a lane is known: first of all it gets it
            if self._has_lane or time.monotonic() >= self._looked + BUSY_SECONDS:
                self._look()
                self._begin_if_due()
            if self.settings.refresh_timeout:
                self.lanes.cancel(self.settings.refresh_timeout)
            if self._wait(next_tick):
                next_tick = time.monotonic()

    def _wait(self, next_tick: float) -> bool:
        """Until there is something to look at; whether the catalog has changed."""
        pace = self.wake.seconds if self._has_lane else BUSY_SECONDS
        seconds = min(pace, next_tick - time.monotonic())
        if self._look_again is not None:
            seconds = min(seconds, (self._look_again - self.clock()).total_seconds())
        if not self._restless:
            self._bell.wait(seconds, self.connection.fileno())
        return any(self.connection.notifies(timeout=0))

    def _reconnect(self) -> None:
        self._reloading.clear()
        self._disconnect()
        self.open()
        self.lanes.renew()
        self.report(Event("reloaded", "settings are read again"))

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _lost(self, error: Exception, wait: float) -> None:
        self._disconnect()
        message = as_known(error).message
        line = f"connection lost: {message}; next try in {wait:.0f} s"
        self.report(Event("disconnected", line, {"message": message, "retry_seconds": wait}))

    # --- a round ----------------------------------------------------------------------------

    def tick(self) -> None:
        """One round, to its end: requests, new tables, what is due, each once; then upkeep."""
        self._read()
        self._look()
        self._begin()
        while self.lanes.running:
            self._bell.wait(1.0)
            for outcome in self._collect():
                self._skipped |= set(outcome.job.targets)
            self._look_for_requests()
            self._begin()
        self.keeper.work(self.connection, self._scene())

    def _scene(self) -> Scene:
        now, tables = self.clock(), tuple(self.timetable.tables.values())
        return Scene(tables, self.settings, now, behind(self._queue, now))

    def _read(self) -> None:
        """The settings and the catalog."""
        self._read_settings()
        self._server_clock.ask(self.connection)
        self._held.clear()
        self._skipped.clear()
        tables = store.stream_tables(self.connection)
        for id_ in resumed(self.timetable.tables, tables):
            self.retries.succeeded(id_)
        self.timetable = Timetable.of(tables, self.settings.cron_timezone)
        self.wake.follow(self.connection, self.timetable)
        self.wake.doubt(self.timetable.on_change)  # DDL moves no sequence
        self._restless = True

    def _look(self) -> None:
        """For requests, and for changes."""
        self._looked = time.monotonic()
        if self._is_asked() or self.requests.is_old:
            self._look_for_requests()
        spared = self.lanes.busy | self._changed.keys() | self.retries.waiting(self.clock())
        for id_ in self.wake.changed(self.connection, self.timetable, self.settings, spared):
            self._changed[id_] = self.clock()
            self._restless = True

    def _is_asked(self) -> bool:
        try:
            return self.wake.look(self.connection)
        except DatabaseError:
            if self.connection.closed:
                raise
            self._read()  # a source has been dropped a moment ago
            return self.wake.look(self.connection)

    def _look_for_requests(self) -> None:
        busy = self.requests.busy
        self.requests.look(self.connection, self.lanes.busy)
        self._restless |= busy != self.requests.busy
        self._restless |= bool(self._requested() - self.lanes.busy)

    def _requested(self) -> frozenset[int]:
        return self.requests.open(self.wake.request_number) - self._skipped

    # --- beginning --------------------------------------------------------------------------

    @property
    def _has_lane(self) -> bool:
        return len(self.lanes.running) < self.settings.max_concurrent_refreshes

    def _begin_if_due(self) -> None:
        if self._restless or (self._look_again and self.clock() >= self._look_again):
            self._begin()

    def _begin(self) -> None:
        self._restless = False
        decision = self._decide()
        lanes, running = self.settings.max_concurrent_refreshes, self.lanes.jobs
        if len(running) < lanes and self._note_idle(decision.jobs):
            decision = self._decide()
        self._look_again = decision.look_again
        begun, self._queue = admit(decision.jobs, running, lanes)
        for job in begun:
            self._begin_job(job)

    def _decide(self) -> Decision:
        now = self.clock()
        moment = Moment(
            now=now,
            requested=self._requested(),
            changed=self._changed,
            started=self._started,
            resting=self.retries.waiting(now),
            busy=self.lanes.busy | self.requests.busy,
            held=frozenset(self._held | self._skipped),
            enabled=self.settings.enabled,
        )
        found = decide(self.timetable, moment, Pace.of(self.settings))
        times = (found.look_again, self.retries.next_end(now))
        return Decision(found.jobs, min((time for time in times if time), default=None))

    def _note_idle(self, jobs: Iterable[Job]) -> bool:
        """All that is due and has nothing to do, in one statement; whether there was such."""
        due = {id_ for job in jobs if job.initiator is Initiator.SCHEDULER for id_ in job.targets}
        unknown = due - self._stirred - self._changed.keys()
        if not unknown:
            return False
        names = note_idle(self.connection, unknown, self.settings)
        self._stirred |= unknown - names.keys()
        self._held |= names.keys()
        if names:
            self.report(idle_tables(names.values()))
            self._update(names)
        return bool(names)

    def _begin_job(self, job: Job) -> None:
        tables = [self.timetable.tables[id_] for id_ in job.targets]
        now = self.clock()
        for id_ in job.covers:
            self._started[id_] = now
            self._changed.pop(id_, None)
        self._stirred -= job.covers
        if job.initiator is Initiator.MANUAL:
            self.requests.begun(job.targets[0], self.wake.request_number)
        self.lanes.begin(job, tables, self.settings)

    # --- ending -----------------------------------------------------------------------------

    def _collect(self) -> list[Outcome]:
        outcomes = self.lanes.finished()
        for outcome in outcomes:
            self._restless = True
            self._tell_outcome(outcome)
            if outcome.error is None:
                self._succeeded(outcome)
            else:
                self._failed(outcome.job, outcome.error)
            if outcome.job.initiator is Initiator.MANUAL:
                self.requests.ended(outcome.job.targets[0])
            self.wake.again(outcome.job.covers)
            self._update(outcome.job.covers)
        return outcomes

    def _succeeded(self, outcome: Outcome) -> None:
        if any(result.action is Action.SKIP for result in outcome.results):
            self._skipped |= set(outcome.job.targets)
            self.wake.suspect(set(outcome.job.targets) & set(self.timetable.on_change))
            return
        for id_ in outcome.job.covers:
            self.retries.succeeded(id_)

    def _failed(self, job: Job, error: Exception) -> None:
        """The table at which it went wrong rests; the others of the job are due as before."""
        self.failures += 1
        known = as_known(error)
        now = self.clock()
        culprits = self._culprits(job, known)
        for id_ in culprits:
            self.retries.failed(id_, now, self.timetable.periods.get(id_))
        self.wake.suspect(job.covers & set(self.timetable.on_change))
        if isinstance(known, Suspended | NotPopulated):  # raised before there is a history
            tables = store.stream_tables(self.connection, culprits)
            write_unstarted(self.connection, tables, job.initiator, known)

    def _culprits(self, job: Job, error: PgStreamError) -> tuple[int, ...]:
        id_ = error.table_id
        return (id_,) if id_ is not None and id_ in self.timetable.tables else job.targets

    def _update(self, ids: Iterable[int]) -> None:
        """The timetable knows what has become of these."""
        self.timetable = self.timetable.updated(store.stream_tables(self.connection, ids))

    def _tell_outcome(self, outcome: Outcome) -> None:
        if outcome.error is not None:
            known = as_known(outcome.error)
            names = [self._name(id_) for id_ in self._culprits(outcome.job, known)]
            self.report(failed(", ".join(names), known))
        for event in results_told(outcome.results, map(self._name, outcome.job.targets)):
            self.report(event)

    # --- pieces -----------------------------------------------------------------------------

    @property
    def connection(self) -> Connection:
        assert self._connection is not None, "open first"
        return self._connection

    def _name(self, id_: int) -> str:
        return self.timetable.tables[id_].full_name if id_ in self.timetable.tables else str(id_)

    def _read_settings(self) -> None:
        if self.fixed is not None:
            return
        try:
            names = [setting.name for setting in DECLARED]
            self.settings = Settings.load(server_settings(self.connection, names))
        except SettingError as error:
            self.keeper.say(Event("notice", f"old settings stay in force: {error.message}"))
