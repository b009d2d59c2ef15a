"""Caller: what Spark is told of the thread that calls it.

call site  else Spark searches the stack for each step of a plan: a third of the time of a small one
pool       threads have pools of their own for small plans, and share one for large ones, so that
           a large one leaves a share of the executors to the others
tag        another thread interrupts the jobs by it

Through Connect there are tags only.
"""

from __future__ import annotations

import itertools
import threading

from pyspark.sql import SparkSession

from pgstream.engine.spark.remote import is_remote

SMALL_POOLS = 8  # Spark never forgets a pool, and looks at all of them for each task
LARGE_POOL = "pgstream large"

_threads = itertools.count()


class Caller(threading.local):
    """Each thread has its own. What Spark knows already is not told again."""

    def __init__(self) -> None:
        self._pool = f"pgstream small {next(_threads) % SMALL_POOLS}"
        self._told: dict[str, str] = {}

    def tell(self, session: SparkSession, tag: str, is_large: bool) -> None:
        if is_remote(session):
            session.clearTags()  # a matter of the client's: nothing is sent
            session.addTag(tag)
            return
        wanted = {
            "callSite.short": "pgstream",
            "callSite.long": "pgstream",
            "spark.scheduler.pool": LARGE_POOL if is_large else self._pool,
            "spark.job.tags": tag,
        }
        for name, value in wanted.items():
            if self._told.get(name) != value:
                session.sparkContext.setLocalProperty(name, value)
                self._told[name] = value
