"""A standalone cluster: whether its master answers, and a watch over jobs without executors.

Spark waits for executors as long as it takes. If they are dead and the master that would start
others is dead too, that is for ever.
"""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from collections.abc import Iterator

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

ANSWER_SECONDS = 3.0
LOOK_SECONDS = 1.0
PATIENCE_SECONDS = 300.0
"""How long a job may wait for its first executor from a master that answers."""


def answers(master: str) -> bool:
    """Whether one of the masters of `spark://host:port,host:port` does; True for other kinds."""
    if not master.startswith("spark://"):
        return True
    return any(map(_listens, re.findall(r"([^/,]+):(\d+)", master)))


def _listens(address: tuple[str, str]) -> bool:
    try:
        socket.create_connection(address, ANSWER_SECONDS).close()
    except OSError:
        return False
    return True


class Watch:
    """Interrupts the jobs of the sessions when no executor is left to run them."""

    def __init__(self, master: str, *sessions: SparkSession) -> None:
        self.master, self.sessions = master, sessions
        self.reason: str | None = None
        self._done = threading.Event()

    @contextlib.contextmanager
    def over(self) -> Iterator[None]:
        thread = threading.Thread(target=self._look, name="pgstream watch", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._done.set()
            thread.join()

    def _look(self) -> None:
        waited = 0.0
        with contextlib.suppress(PySparkException, Py4JError, OSError):  # Java itself is gone
            while not self._done.wait(LOOK_SECONDS):
                waited = 0.0 if executors(self.sessions[0]) else waited + LOOK_SECONDS
                self.reason = self._lost(waited)
                for session in self.sessions if self.reason else ():
                    session.interruptAll()

    def _lost(self, waited: float) -> str | None:
        if waited > PATIENCE_SECONDS:
            return f"the cluster has had no executor for {PATIENCE_SECONDS:.0f} s"
        if waited > LOOK_SECONDS and not answers(self.master):
            return "no executor is left, and no master answers"
        return None


def executors(session: SparkSession) -> int:
    tracker = session.sparkContext._jsc.sc().statusTracker()
    return len(tracker.getExecutorInfos()) - 1  # the driver is in the list
