"""The worker: answers refreshes asked for in SQL, builds new tables, refreshes what is due.

It keeps nothing that matters: it may be killed, restarted, or run twice. Two workers meet at
the lock of each table, and one of them goes on to the next.

A tick comes every `scheduler_interval_ms`, and when a table is created, altered or dropped.
Between ticks it looks for requests only, because somebody waits for those.

Settings are read again at each tick. What `ALTER SYSTEM` sets arrives with the server's next
reload, what `ALTER DATABASE` or `ALTER ROLE` sets with the worker's next connection.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from pgstream.capture.wal.drain import drain
from pgstream.catalog import store
from pgstream.catalog.records import Action, Initiator, RefreshResult, StreamTable
from pgstream.database import migrate
from pgstream.database.connection import Connection, DatabaseError, connect, server_settings
from pgstream.engine.spark.session import Sessions
from pgstream.errors import NotPopulated, SettingError, Suspended
from pgstream.monitor.alerts import refresh_failed, send
from pgstream.refresh.graph import upstream
from pgstream.refresh.known import as_known
from pgstream.refresh.refresher import Refresher
from pgstream.schedule.due import due, on_cron, periods, to_build
from pgstream.schedule.events import Event, Report, failed, refreshed
from pgstream.schedule.locks import announce_worker, look
from pgstream.schedule.retry import Retries
from pgstream.schedule.upkeep import Upkeep
from pgstream.schedule.watch import Watch
from pgstream.settings import DECLARED, Settings

REQUESTS_SECONDS = 0.1
DRAIN_SECONDS = 60.0
RECONNECT_SECONDS = 1.0
LONGEST_RECONNECT_SECONDS = 30.0

Clock = Callable[[], datetime]


class Worker:
    """One thread calls `run`; `stop` may be called from any, or from a signal handler.

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
        self.clock = clock or self._server_time
        self.refresher = Refresher(dsn, sessions, self.settings)
        self.retries = Retries()
        self.failures = 0
        self._stopping = threading.Event()
        self._connection: Connection | None = None
        self._every: dict[int, timedelta] = {}
        self._put_off: set[int] = set()  # until the next tick
        self._said: set[str] = set()
        self._watch = Watch()
        self._upkeep = Upkeep()
        self._drained: datetime | None = None

    # --- life -------------------------------------------------------------------------------

    def open(self) -> None:
        """Connects, and tells SQL callers that a worker is there."""
        connection = connect(self.dsn, application_name="pgstream worker")
        try:
            migrate.require(connection)
            announce_worker(connection)
        except BaseException:
            connection.close()
            raise
        self._connection = connection

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
                try:
                    if self._connection is None:
                        self.open()
                    wait = RECONNECT_SECONDS
                    self._loop()
                except Exception as error:
                    self._lost(error, wait)
                    self._stopping.wait(wait)
                    wait = min(2 * wait, LONGEST_RECONNECT_SECONDS)
        finally:
            self.close()

    def stop(self) -> None:
        """Ends `run` after the cycle that is under way."""
        self._stopping.set()

    @property
    def stopping(self) -> bool:
        return self._stopping.is_set()

    def close(self) -> None:
        self.refresher.close()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _loop(self) -> None:
        next_tick = time.monotonic()
        while not self.stopping:
            if time.monotonic() >= next_tick:
                self.tick()
                next_tick = time.monotonic() + self.settings.scheduler_interval_ms / 1000
            else:
                self._answer_requests()
            if not self.stopping and self._woken(REQUESTS_SECONDS):
                next_tick = time.monotonic()

    def _woken(self, seconds: float) -> bool:
        return any(self.connection.notifies(timeout=seconds, stop_after=1))

    def _lost(self, error: Exception, wait: float) -> None:
        self.close()
        message = as_known(error).message
        line = f"connection lost: {message}; next try in {wait:.0f} s"
        self.report(Event("disconnected", line, {"message": message, "retry_seconds": wait}))

    # --- work -------------------------------------------------------------------------------

    def tick(self) -> None:
        """Requests first, because somebody waits; then new tables; what is due; upkeep."""
        self._read_settings()
        self._put_off.clear()
        tables = store.stream_tables(self.connection)
        self._every = periods(tables)
        self._say_cron(tables)
        self._answer_requests()
        self._build(tables)
        if self.settings.enabled:
            self._refresh_due()
        self._keep_up()
        self._drain()

    def _answer_requests(self) -> None:
        locks = look(self.connection)
        wanted = locks.requested - locks.busy - self._put_off
        if wanted:
            for table in store.stream_tables(self.connection, wanted):
                self._refresh(table, Initiator.MANUAL)

    def _build(self, tables: Iterable[StreamTable]) -> None:
        for table in to_build(tables, self._resting()):
            self._refresh(table, Initiator.INITIAL)

    def _refresh_due(self) -> None:
        tables = store.stream_tables(self.connection)
        covered: set[str] = set()
        for table in due(tables, self._every, self.clock(), self._resting()):
            # A failure may have put off this one, or what it reads, a moment ago.
            if table.full_name in covered or self._rests(table, tables):
                continue
            result = self._refresh(table, Initiator.SCHEDULER)
            if result is not None:
                covered |= {each.name for each in (*result.upstream, result)}

    def _drain(self) -> None:
        """The server keeps its WAL until it is decoded, though nobody may refresh."""
        now = self.clock()
        if self._drained is not None and now - self._drained < timedelta(seconds=DRAIN_SECONDS):
            return
        self._drained = now
        try:
            drain(self.connection)
        except Exception as error:
            if self.connection.closed:
                raise
            self._once(Event("notice", f"the WAL is not decoded: {as_known(error).message}"))

    def _rests(self, table: StreamTable, tables: list[StreamTable]) -> bool:
        waiting = self.retries.waiting(self.clock())
        return any(each.id in waiting for each in upstream(table, tables))

    def _resting(self) -> set[int]:
        return self.retries.waiting(self.clock()) | look(self.connection).busy | self._put_off

    def _keep_up(self) -> None:
        """Alerts and upkeep. What fails there must not keep tables from being refreshed."""
        now = self.clock()
        try:
            tables = store.stream_tables(self.connection)  # as they are after the refreshes
            self._watch.look(self.connection, tables, self.settings, now)
            for event in self._upkeep.work(self.connection, self.settings, now):
                self.report(event)
        except DatabaseError as error:
            if self.connection.closed:
                raise
            self._once(Event("notice", f"upkeep failed: {as_known(error).sentence}"))

    # --- one refresh ------------------------------------------------------------------------

    def _refresh(self, table: StreamTable, initiator: Initiator) -> RefreshResult | None:
        """None if it failed, which is told and recorded: a table's error stops nobody else."""
        if self.stopping:
            return None
        try:
            result = self.refresher.refresh(table, initiator)
        except Exception as error:
            self._failed(table, initiator, error)
            return None
        if result.action is Action.SKIP:
            self._put_off.add(table.id)
        else:
            self.retries.succeeded(table.id)
        for each in result.upstream:
            if each.action not in (Action.NO_DATA, Action.SKIP):
                self.report(refreshed(each))
        self.report(refreshed(result))
        return result

    def _failed(self, table: StreamTable, initiator: Initiator, error: Exception) -> None:
        self.failures += 1
        self.report(failed(table.full_name, error))
        self._put_off.add(table.id)
        if isinstance(error, Suspended | NotPopulated):  # raised before there is a history
            attempts = store.start_history(self.connection, [table.id], initiator)
            store.fail_history(self.connection, attempts.values(), str(error))
            send(self.connection, refresh_failed(table.full_name, error))
        now = self.clock()
        self.retries.failed(table.id, now, self._every.get(table.id))
        for culprit in self._culprits(table):
            self.retries.failed(culprit.id, now, self._every.get(culprit.id))

    def _culprits(self, table: StreamTable) -> list[StreamTable]:
        """Upstream tables that have failed, and would make those that read them fail."""
        group = upstream(table, store.stream_tables(self.connection))[:-1]
        return [each for each in group if each.consecutive_errors]

    # --- pieces -----------------------------------------------------------------------------

    @property
    def connection(self) -> Connection:
        assert self._connection is not None, "open first"
        return self._connection

    def _server_time(self) -> datetime:
        row = self.connection.execute("SELECT clock_timestamp()").fetchone()
        assert row is not None
        now: datetime = row[0]
        return now

    def _read_settings(self) -> None:
        if self.fixed is not None:
            return
        try:
            names = [setting.name for setting in DECLARED]
            self.settings = Settings.load(server_settings(self.connection, names))
        except SettingError as error:
            self._once(Event("notice", f"old settings stay in force: {error.message}"))
        self.refresher.settings = self.settings

    def _say_cron(self, tables: Iterable[StreamTable]) -> None:
        names = [table.full_name for table in on_cron(tables)]
        if names:
            line = f"this version ignores cron schedules: {', '.join(names)}"
            self._once(Event("notice", line, {"names": names}))

    def _once(self, event: Event) -> None:
        if event.line not in self._said:
            self._said.add(event.line)
            self.report(event)
