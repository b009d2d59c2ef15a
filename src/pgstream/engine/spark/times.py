"""Times: how long Spark took to analyse, to plan and to run the statements of a refresh.

    analysis   from the text to a plan of which all names and types are known
    planning   to a plan that costs less, which Spark's optimizer finds
    running    the rest: the choice of physical operators, the tasks, the rows on their way

Spark analyses a statement when it is given one, and plans it when it is first needed. Asking which
files it reads needs the plan and nothing else, and what was planned is not planned again: so the
parts are told apart at no cost. Where each question would be another plan, which is so through
Spark Connect and where executors write the result, planning is a part of running.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from pgstream.engine.spark.remote import is_remote


@dataclass
class Times:
    """Milliseconds, of all statements so far."""

    analysis: float = 0.0
    planning: float = 0.0
    running: float = 0.0

    def analysed(self, session: SparkSession, statement: str) -> DataFrame:
        with self.taken("analysis"):
            return session.sql(statement)

    def collected(self, session: SparkSession, statement: str) -> pa.Table:
        """The rows of the statement: one action."""
        frame = self.analysed(session, statement)
        if not is_remote(session):
            with self.taken("planning"):
                frame.inputFiles()
        with self.taken("running"):
            return frame.toArrow()

    @contextmanager
    def taken(self, part: str) -> Iterator[None]:
        """Adds the time that it takes, also if it fails."""
        started = time.perf_counter()
        try:
            yield
        finally:
            passed = (time.perf_counter() - started) * 1000
            setattr(self, part, getattr(self, part) + passed)
