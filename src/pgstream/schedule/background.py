"""A worker in a thread of its own, as `pgstream serve` has one in a process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from pgstream.schedule.worker import Worker


@contextmanager
def in_background(worker: Worker) -> Iterator[Worker]:
    """It works until the block ends."""
    worker.open()
    thread = threading.Thread(target=worker.run, name="worker")
    thread.start()
    try:
        yield worker
    finally:
        worker.stop()
        thread.join()
