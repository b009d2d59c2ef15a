"""Lanes: the threads that refresh, each with a refresher of its own.

The thread that decides begins jobs and collects outcomes; it never waits for a refresh.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pgstream.catalog.records import RefreshResult, StreamTable
from pgstream.compile.preparations import Preparations
from pgstream.engine.spark.session import Sessions
from pgstream.refresh.refresher import Refresher
from pgstream.schedule.bell import Bell
from pgstream.schedule.decide import Job
from pgstream.settings import Settings

CANCEL_AGAIN_SECONDS = 1.0
CANCELLED_SECONDS = 5.0
"""How long a refresh that is cancelled may take to end."""
END_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of a job: the results, upstream first, or the error."""

    job: Job
    results: tuple[RefreshResult, ...] = ()
    error: Exception | None = None


class Lane:
    """One thread, one refresher, one job at a time."""

    def __init__(self, refresher: Refresher, done: Callable[[Outcome], None]) -> None:
        self.refresher = refresher
        self.job: Job | None = None
        self._done = done
        self._began = self._cancelled = 0.0
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._live, name="pgstream lane", daemon=True)
        self._thread.start()

    def begin(self, job: Job, tables: Sequence[StreamTable], settings: Settings) -> None:
        self.job, self._began, self._cancelled = job, time.monotonic(), 0.0
        self.refresher.settings = settings
        self._work.put(lambda: self._done(self._run(job, tables)))

    def renew(self) -> None:
        """Its connections are opened again before the next refresh."""
        self._work.put(self.refresher.close)

    def seconds(self) -> float:
        """How long the job has been running."""
        return time.monotonic() - self._began if self.job else 0.0

    def cancel(self) -> None:
        """The job fails. If it goes on nevertheless, it is told again."""
        if time.monotonic() - self._cancelled >= CANCEL_AGAIN_SECONDS:
            self._cancelled = time.monotonic()
            self.refresher.cancel()

    def end(self) -> None:
        """The thread ends after its job, which is not waited for."""
        self._work.put(None)
        if self.job is None:
            self._thread.join(END_SECONDS)

    def _live(self) -> None:
        while (work := self._work.get()) is not None:
            work()
        self.refresher.close()

    def _run(self, job: Job, tables: Sequence[StreamTable]) -> Outcome:
        try:
            results = self.refresher.refresh_group(tables, job.initiator)
        except Exception as error:
            return Outcome(job, error=error)
        return Outcome(job, tuple(results))


class Lanes:
    """As many as are needed at once. Called by one thread."""

    def __init__(self, dsn: str, sessions: Sessions, ring: Callable[[], None]) -> None:
        self._dsn, self._sessions, self._ring = dsn, sessions, ring
        self._preparations = Preparations()
        self._lanes: list[Lane] = []
        self._finished: queue.SimpleQueue[Outcome] = queue.SimpleQueue()

    @property
    def running(self) -> list[Lane]:
        return [lane for lane in self._lanes if lane.job is not None]

    @property
    def jobs(self) -> list[Job]:
        """Those under way."""
        return [lane.job for lane in self._lanes if lane.job is not None]

    @property
    def busy(self) -> frozenset[int]:
        """The tables that are being refreshed."""
        return frozenset(id_ for job in self.jobs for id_ in job.covers)

    def begin(self, job: Job, tables: Sequence[StreamTable], settings: Settings) -> None:
        free = next((lane for lane in self._lanes if lane.job is None), None)
        if free is None:
            refresher = Refresher(self._dsn, self._sessions, settings, self._preparations)
            free = Lane(refresher, self._hear)
            self._lanes.append(free)
        free.begin(job, tables, settings)

    def finished(self) -> list[Outcome]:
        """What has ended since the last call."""
        found: list[Outcome] = []
        while not self._finished.empty():
            found.append(self._finished.get())
        ended = {id(outcome.job) for outcome in found}
        for lane in self._lanes:
            if lane.job is not None and id(lane.job) in ended:
                lane.job = None
        return found

    def cancel(self, after_seconds: float = 0.0) -> None:
        """Those that have been running for longer."""
        for lane in self.running:
            if lane.seconds() >= after_seconds:
                lane.cancel()

    def finish(self, seconds: float, bell: Bell, tell: Callable[[Outcome], None]) -> None:
        """Leaves the refreshes under way so long, then cancels them."""
        patience = time.monotonic() + seconds
        while self.running and time.monotonic() < patience + CANCELLED_SECONDS:
            for outcome in self.finished():
                tell(outcome)
            if time.monotonic() >= patience:
                self.cancel()
            if self.running:
                bell.wait(0.1)

    def renew(self) -> None:
        for lane in self._lanes:
            lane.renew()

    def end(self) -> None:
        for lane in self._lanes:
            lane.end()
        self._lanes = []

    def _hear(self, outcome: Outcome) -> None:
        self._finished.put(outcome)
        self._ring()
