"""A worker in a thread of the test."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from pgstream.engine.spark.session import Sessions
from pgstream.schedule.events import Event
from pgstream.schedule.worker import Worker
from pgstream.settings import Settings


class Background:
    """The worker, and what it tells."""

    def __init__(self, dsn: str, spark: Any, settings: Settings | None) -> None:
        self.events: list[Event] = []
        self.sessions = Sessions(settings or Settings(), spark)
        self.worker = Worker(dsn, self.sessions, self.events.append, settings)
        self.thread = threading.Thread(target=self.worker.run)

    def lines(self, kind: str) -> list[str]:
        return [event.line for event in self.events if event.kind == kind]

    def __enter__(self) -> Background:
        self.worker.open()
        self.thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.worker.stop()
        self.thread.join()


def until(true: Callable[[], Any], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"not after {seconds} s"
        time.sleep(0.05)
