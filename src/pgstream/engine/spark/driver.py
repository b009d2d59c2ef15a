"""The driver: the Java process of a Spark session that is not remote.

What it is started with, whether it lives, and how to be rid of it. PySpark keeps one per Python
process in class variables, and keeps them when it has died: then every later session would talk
to a closed socket. So nothing else touches them.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from pyspark import SparkContext
from pyspark.sql import SparkSession, SQLContext

from pgstream.engine.spark import cluster
from pgstream.errors import SparkLost
from pgstream.settings import Settings

MEBIBYTE = 1024 * 1024
LEAST_MEBIBYTES, MOST_MEBIBYTES = 1024, 8192
SHARE = 4  # of the machine's memory: a quarter
OUT_OF_MEMORY = 3  # the exit code of ExitOnOutOfMemoryError
END_SECONDS = 5.0

LOGGING = Path(__file__).with_name("log4j2.properties")
JAVA_OPTIONS = (
    # Out of memory it would live on without the threads that failed, and callers would wait.
    "-XX:+ExitOnOutOfMemoryError",
    "-XX:-HeapDumpOnOutOfMemoryError",
    "-Xss8m",  # deep plans
    f"-Dlog4j2.configurationFile={LOGGING.as_uri()}",
)
# This collector calls it out of memory when it does nothing but collect; others go on for ever.
COLLECTOR = "-XX:+UseParallelGC"
JAVA_VARIABLES = ("SPARK_SUBMIT_OPTS", "JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS")
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


def launch(settings: Settings) -> SparkSession:
    """A session on the master of the settings. There is one context per Python process: if one is
    open, it is that."""
    if not cluster.answers(settings.spark_master):
        raise SparkLost(
            f"No Spark master answers at {settings.spark_master}.",
            hint="Start it, or check spark_master. The next refresh tries again.",
        )
    if has_ended():
        end()
    # Executors need a Python with our packages. Spark would take any python3 of the path.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("pgstream").master(settings.spark_master)
    for name, value in {**STATIC, **launch_options(settings)}.items():
        builder = builder.config(name, value)
    with _own_interrupt_handler():
        session = builder.getOrCreate()
    _keep_quiet(session)
    return session


def _keep_quiet(session: SparkSession) -> None:
    """When Java dies, py4j and a thread of PySpark's write stack traces, to the root logger and to
    stderr. Whoever called gets the error."""
    logging.getLogger().addFilter(_is_not_py4js)
    server = getattr(session.sparkContext, "_accumulatorServer", None)
    if server is not None:
        server.handle_error = lambda *request: None


def _is_not_py4js(record: logging.LogRecord) -> bool:
    return "py4j" not in record.pathname


@contextlib.contextmanager
def _own_interrupt_handler() -> Iterator[None]:
    """PySpark replaces the program's handler of Ctrl-C, if it has one."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        in_main = threading.current_thread() is threading.main_thread()
        if in_main and callable(before) and before is not signal.default_int_handler:
            signal.signal(signal.SIGINT, before)


def launch_options(settings: Settings) -> dict[str, str]:
    """What must be known before Java starts."""
    others = " ".join(os.environ.get(name, "") for name in JAVA_VARIABLES)
    chosen = re.search(r"-XX:\+Use\w+GC\b", others)  # Java refuses two collectors
    java = JAVA_OPTIONS if chosen else (*JAVA_OPTIONS, COLLECTOR)
    return {
        "spark.driver.memory": driver_memory(settings.spark_driver_memory),
        "spark.driver.extraJavaOptions": " ".join(java),
    }


# --- memory -------------------------------------------------------------------------------------


def driver_memory(wanted: str, machine: int | None = None) -> str:
    """As Spark writes it. `auto`: a quarter of the machine's, at least 1 GB, at most 8 GB."""
    if wanted != "auto":
        return wanted
    share = (machine or machine_memory()) // SHARE // MEBIBYTE
    return f"{min(max(share, LEAST_MEBIBYTES), MOST_MEBIBYTES)}m"


def machine_memory() -> int:
    """Bytes: what the machine has, or less if a container may use less."""
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min([physical, *_container_limits()])


def _container_limits(root: Path = Path("/sys/fs/cgroup")) -> list[int]:
    """Of our control group and those above it; version 2, then version 1."""
    try:
        own = Path("/proc/self/cgroup").read_text().rpartition("0::/")[2].strip()
    except OSError:
        own = ""
    group = root / own
    files = [
        each / "memory.max" for each in (group, *group.parents) if root in (each, *each.parents)
    ]
    limits = []
    for file in (*files, root / "memory" / "memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError):  # no such file; "max"
            limits.append(int(file.read_text()))
    return limits


# --- life and death -----------------------------------------------------------------------------


def process() -> subprocess.Popen[bytes] | None:
    """The Java process that PySpark started here; not one that it was told to use."""
    # vars(): any other name of a gateway is looked up in Java.
    return vars(SparkContext._gateway).get("proc") if SparkContext._gateway else None


def has_ended() -> bool:
    java = process()
    return java is not None and java.poll() is not None


def is_gone(session: SparkSession) -> bool:
    """Whether Java has ended or the context is stopped, by us or because the cluster is lost."""
    context = session.sparkContext
    if context._jsc is None or has_ended():
        return True
    try:
        return bool(context._jsc.sc().isStopped())
    except Exception:
        return True


def ran_out_of_memory() -> bool:
    """Whether that is why Java ended. It may be ending right now."""
    java = process()
    if java is None:
        return False
    try:
        return java.wait(END_SECONDS) == OUT_OF_MEMORY
    except subprocess.TimeoutExpired:
        return False


def discard(*sessions: SparkSession) -> None:
    """Ends what is left of sessions that are gone. What another has started since stays."""
    context = SparkContext._active_spark_context
    if has_ended() or any(context is each.sparkContext for each in sessions):
        end()


def end() -> None:
    """Ends Java, and makes PySpark forget it: the next session starts another."""
    with SparkContext._lock:
        java, context, gateway = (
            process(),
            SparkContext._active_spark_context,
            SparkContext._gateway,
        )
        if java is not None:
            java.kill()
            java.wait()
            if java.stdin is not None:
                java.stdin.close()
        if context is not None:
            context._jsc = None  # there is nobody to tell
            context.stop()
        if gateway is not None:
            with contextlib.suppress(Exception):
                gateway.shutdown()
        SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
        SparkSession._instantiatedSession = SparkSession._activeSession = None
        SQLContext._instantiatedContext = None
