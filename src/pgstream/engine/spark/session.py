"""The Spark sessions: one tuned for small plans, one for large, on one context.

Only what also works through Spark Connect is used: SQL text, DataFrames, Arrow, Python
functions over Arrow.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial

import psycopg
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.types import DecimalType

from pgstream.engine.carriers import MAX_DIGITS, QUOTIENT_SCALE
from pgstream.engine.spark import driver, remote
from pgstream.engine.spark.caller import Caller
from pgstream.engine.spark.cluster import Watch
from pgstream.engine.spark.failures import as_refresh_error, gone, is_sparks, not_opened, says_lost
from pgstream.engine.spark.numeric import divide
from pgstream.errors import PgStreamError
from pgstream.settings import Settings

# An error where PostgreSQL raises one; no digit lost in decimals; UTC throughout.
COMMON = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.pythonUDF.arrow.enabled": "true",
    "spark.sql.variable.substitute": "false",  # a value may hold ${…}
    "spark.sql.ui.explainMode": "simple",  # nobody reads what Spark writes of each plan
    "spark.sql.maxPlanStringLength": "1000",
    # The parser's memory of what it has parsed has no bound else; in percent of the driver's.
    "spark.sql.parser.manageParserCaches": "true",
    "spark.sql.parser.parserDfaCacheFlushRatio": "20",
}
# One task, no exchange, nothing compiled: for plans of a few thousand rows.
SMALL = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.constraintPropagation.enabled": "false",
    # They move a semi-join below the point where its input is made one partition.
    "spark.sql.optimizer.excludedRules": ",".join(
        f"org.apache.spark.sql.catalyst.optimizer.{rule}"
        for rule in ("PushDownLeftSemiAntiJoin", "PushLeftSemiLeftAntiThroughJoin")
    ),
}
LARGE = {
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.codegen.wholeStage": "true",
}


class Sessions:
    """Opens Spark when first asked: a refresh with nothing to do never starts it.

    When Spark is gone, whoever uses it gets SparkLost, and the next one gets a new session. Threads
    share them: views have names of their own, and settings are never changed.
    """

    def __init__(self, settings: Settings, given: SparkSession | None = None) -> None:
        self.settings = settings
        self._given = given
        self._lock = threading.RLock()
        self._caller = Caller()
        self.opening_s = 0.0
        """How long opening has taken so far; no refresh is slow for it."""
        self._small: SparkSession | None = None
        self._large: SparkSession | None = None

    @property
    def small(self) -> SparkSession:
        small, _ = self._open()
        return small

    @property
    def large(self) -> SparkSession:
        _, large = self._open()
        return large

    def for_jobs(self, tag: str, is_large: bool) -> SparkSession:
        """One of the two, for jobs of this thread that have this tag."""
        session = self.large if is_large else self.small
        with self.guarded():
            self._caller.tell(session, tag, is_large)
        return session

    def interrupt(self, tag: str) -> None:
        """From any thread: the jobs that have this tag fail."""
        opened = [each for each in (self._small, self._large) if each is not None]
        for session in opened:
            with contextlib.suppress(Exception):  # a Spark that is gone has no jobs
                if remote.is_remote(session):
                    session.interruptTag(tag)
                else:
                    session.sparkContext.cancelJobsWithTag(tag)

    @property
    def parallelism(self) -> int:
        if self.settings.read_slices:
            return self.settings.read_slices
        return max(os.cpu_count() or 1, 1)

    def revive(self) -> None:
        """Before a refresh: a Spark that has ended since the last one is no error."""
        with self._lock:
            if any(each is not None and is_gone(each) for each in (self._small, self._large)):
                self._forget()

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """What Spark raises becomes an error of ours; a Spark that is gone is forgotten."""
        watch, used = self._watch(), self._small
        try:
            with watch.over() if watch else contextlib.nullcontext():
                yield
        except (PgStreamError, psycopg.Error):
            raise
        except Exception as error:
            known = self._told(error, watch.reason if watch else None, used)
            if known is None:
                raise
            raise known from error

    def drop_view(self, session: SparkSession, name: str) -> None:
        """Never hides what went wrong before, and asks no Spark that is gone."""
        if session in (self._small, self._large):
            with contextlib.suppress(Exception):
                session.catalog.dropTempView(name)

    def stop(self) -> None:
        """Ends what was opened here; a session that was given stays open."""
        with self._lock, contextlib.suppress(Exception):
            if self._small is None or self._large is None:
                return
            if is_gone(self._small):
                pass
            elif remote.is_remote(self._small):
                self._small.stop()
                self._large.stop()
            elif self._given is None:
                self._small.stop()  # the context, and so both
        self._forget()

    # --- opening ----------------------------------------------------------------------------

    def _open(self) -> tuple[SparkSession, SparkSession]:
        with self._lock:
            if self._small is not None and self._large is not None:
                return self._small, self._large
            logging.getLogger("SQLQueryContextLogger").disabled = True
            started = time.perf_counter()
            try:
                another = self._source()
                self._large, self._small = another(), another()
                tune(self._large, LARGE)
                tune(self._small, SMALL)
            except PgStreamError:
                raise
            except Exception as error:
                known = not_opened(error, given=self._given is not None)
                self._forget()
                raise known from error
            self.opening_s += time.perf_counter() - started
            return self._small, self._large

    def _source(self) -> Callable[[], SparkSession]:
        """What makes one session after the other, each with views and settings of its own."""
        given = self._given
        if given is not None:
            if is_gone(given):
                raise not_opened(
                    ConnectionError("the session that was given is closed"), given=True
                )
            return partial(remote.clone, given) if remote.is_remote(given) else given.newSession
        if self.settings.spark_remote:
            return partial(remote.open_session, self.settings.spark_remote)
        launched: SparkSession = driver.launch(self.settings)
        return launched.newSession

    # --- losing -----------------------------------------------------------------------------

    def _watch(self) -> Watch | None:
        """Only a cluster can lose its executors and leave the driver waiting."""
        small, large = self._small, self._large
        if small is None or large is None or remote.is_remote(small):
            return None
        master = str(small.sparkContext.master)
        return None if master.startswith("local") else Watch(master, small, large)

    def _told(
        self, error: Exception, reason: str | None, used: SparkSession | None
    ) -> PgStreamError | None:
        """The error as one of ours; None if it has nothing to do with Spark. Another thread may
        have met the same end, and opened Spark again since."""
        with self._lock:
            if reason or says_lost(error) or (used is not None and is_gone(used)):
                known = gone(error, given=self._given is not None, reason=reason)
                if used is self._small:
                    self._forget()
                return known
        # Rows come over files and sockets, as Arrow.
        sparks = is_sparks(error) or isinstance(error, OSError | pa.ArrowException)
        return as_refresh_error(error) if sparks else None

    def _forget(self) -> None:
        with self._lock:
            opened = [each for each in (self._small, self._large) if each is not None]
            self._small = self._large = None
            self._caller = Caller()
            for session in opened:
                if remote.is_remote(session):
                    remote.discard(session)
            if self._given is None and not self.settings.spark_remote:
                driver.discard(*opened)


def is_gone(session: SparkSession) -> bool:
    return remote.is_gone(session) if remote.is_remote(session) else driver.is_gone(session)


def tune(session: SparkSession, tuning: dict[str, str]) -> None:
    for name, value in {**COMMON, **tuning}.items():
        session.conf.set(name, value)
    session.udf.register("pgs_divide", divide, DecimalType(MAX_DIGITS, QUOTIENT_SCALE))
