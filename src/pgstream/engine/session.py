"""The Spark sessions: one tuned for small plans, one for large, on one context.

Only what also works through Spark Connect is used: SQL text, DataFrames, Arrow, Python
data sources.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.types import DecimalType

from pgstream.engine.carriers import MAX_DIGITS, QUOTIENT_SCALE
from pgstream.engine.numeric import divide
from pgstream.engine.slices import SliceSource
from pgstream.engine.staging import StagingSource
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
}
LARGE = {
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.codegen.wholeStage": "true",
}
LOGGING = Path(__file__).with_name("log4j2.properties")
STATIC = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.scheduler.mode": "FAIR",
    "spark.sql.catalogImplementation": "in-memory",
    # Each join and aggregate of a task takes a page; of Spark's own choice, sixteen fill it.
    "spark.buffer.pageSize": "1m",
    # What Spark remembers of past jobs would fill the driver.
    "spark.sql.ui.retainedExecutions": "10",
    "spark.ui.retainedJobs": "10",
    "spark.ui.retainedStages": "10",
    "spark.ui.retainedTasks": "100",
}


class Sessions:
    """Opens Spark when first asked: a refresh with nothing to do never starts it."""

    def __init__(self, settings: Settings, given: SparkSession | None = None) -> None:
        self.settings = settings
        self._given = given
        self._lock = threading.Lock()
        self._named = threading.local()
        self._small: SparkSession | None = None
        self._large: SparkSession | None = None

    @property
    def small(self) -> SparkSession:
        self._open()
        assert self._small is not None
        self._name_thread(self._small)
        return self._small

    @property
    def large(self) -> SparkSession:
        self._open()
        assert self._large is not None
        return self._large

    @property
    def parallelism(self) -> int:
        if self.settings.read_slices:
            return self.settings.read_slices
        return max(os.cpu_count() or 1, 1)

    def stop(self) -> None:
        """Ends Spark if it is ours; a session that was given stays open."""
        with self._lock:
            if self._small is not None and self._given is None:
                self._small.stop()
            self._small = self._large = None

    def _open(self) -> None:
        with self._lock:
            if self._small is not None:
                return
            logging.getLogger("SQLQueryContextLogger").disabled = True
            base = self._given or self._build()
            self._small = self._tuned(base.newSession(), SMALL)
            self._large = self._tuned(base.newSession(), LARGE)

    def _name_thread(self, session: SparkSession) -> None:
        """Tells Spark who calls; else it searches the stack for each step of a plan, which is
        a third of the time of a small one."""
        if not self.settings.spark_remote and not hasattr(self._named, "done"):
            for form in ("callSite.short", "callSite.long"):
                session.sparkContext.setLocalProperty(form, "pgstream")
            self._named.done = True

    def _build(self) -> SparkSession:
        builder = SparkSession.builder.appName("pgstream")
        if self.settings.spark_remote:
            return builder.remote(self.settings.spark_remote).getOrCreate()
        if self.settings.spark_master.startswith("local"):
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        quiet = f"-Dlog4j2.configurationFile={LOGGING.as_uri()}"
        for name, value in {**STATIC, "spark.driver.extraJavaOptions": quiet}.items():
            builder = builder.config(name, value)
        return builder.master(self.settings.spark_master).getOrCreate()

    def _tuned(self, session: SparkSession, tuning: dict[str, str]) -> SparkSession:
        activate(session)
        for name, value in {**COMMON, **tuning}.items():
            session.conf.set(name, value)
        session.udf.register("pgs_divide", divide, DecimalType(MAX_DIGITS, QUOTIENT_SCALE))
        session.dataSource.register(SliceSource)
        session.dataSource.register(StagingSource)
        return session


def activate(session: SparkSession) -> None:
    """Makes the session the thread's active one: there Spark looks data sources up by name,
    when one is registered and when one is written to."""
    session.createDataFrame([], "x INT")
