"""Turns Spark's failures into refresh errors that a user can read."""

from __future__ import annotations

import re

from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark.errors import PySparkException

from pgstream.engine.spark import driver
from pgstream.errors import ComputeError, NumericRange, RefreshError, SparkLost

# Spark's error class → what PostgreSQL would say.
PLAIN_WORDS = {
    "DIVIDE_BY_ZERO": "division by zero",
    "REMAINDER_BY_ZERO": "division by zero",
    "CAST_OVERFLOW": "value out of range",
    "ARITHMETIC_OVERFLOW": "value out of range",
    "BINARY_ARITHMETIC_OVERFLOW": "value out of range",
    "CAST_INVALID_INPUT": "a date or time that Spark cannot hold, such as one before Christ",
}
TOO_WIDE = ("NUMERIC_VALUE_OUT_OF_RANGE", "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION")
ROOM = "Give Spark more memory: set spark_driver_memory."
AGAIN = "The next refresh opens a new session."
GIVEN = "The session was given to pgstream: open a new one, and give that to a new PgStream."
START = (
    "Spark needs Java 17 or newer. Check spark_master, spark_remote and spark_driver_memory;"
    " PGSTREAM_DEBUG=1 shows what Java writes."
)
# What Spark says when its context, its executors or a session of Connect is no more.
LOST_WORDS = (
    "INVALID_HANDLE.SESSION",
    "Session was closed",
    "StatusCode.UNAVAILABLE",
    "NO_ACTIVE_SESSION",
    "stopped SparkContext",
    "SparkContext was shut down",
    "SparkContext has been shutdown",
    "ExecutorLostFailure",
    "Could not find CoarseGrainedScheduler",
)
NETWORK = (Py4JNetworkError, ConnectionError, TimeoutError, EOFError)
TRACEBACK = "Traceback (most recent call last):"


def as_refresh_error(error: Exception) -> RefreshError:
    if says_lost(error):
        return gone(error)
    text = _text(error)
    condition = error.getCondition() if isinstance(error, PySparkException) else None
    name = (condition or _condition(text) or "").partition(".")[0]
    not_a_decimal = name == "CAST_INVALID_INPUT" and '"DECIMAL(' in text  # NaN or infinity
    if name in TOO_WIDE or not_a_decimal or "exceeds the digits that Spark holds" in text:
        return NumericRange(
            "A numeric value needs more than the 38 digits that Spark holds.",
            detail=_cause(text),
            hint="Declare the columns as numeric(p, s), or round them in a subquery.",
        )
    if "ZeroDivisionError" in text:
        name = "DIVIDE_BY_ZERO"
    cause = PLAIN_WORDS.get(name) or _cause(text)
    message = f"Spark could not compute the change: {cause}."
    return ComputeError(message, cause=cause, hint=ROOM if "OutOfMemory" in text else None)


def not_opened(error: Exception, *, given: bool) -> RefreshError:
    if given or says_lost(error) or driver.has_ended():
        return gone(error, given=given)
    cause = _cause(_text(error))
    return ComputeError(f"Spark cannot be started: {cause}.", cause=cause, hint=START)


def says_lost(error: Exception) -> bool:
    return isinstance(error, NETWORK) or any(words in _text(error) for words in LOST_WORDS)


def is_sparks(error: Exception) -> bool:
    """Also of the package beneath Connect, which need not be installed."""
    module = type(error).__module__
    return isinstance(error, PySparkException | Py4JError) or module.startswith("grpc.")


def gone(error: Exception, *, given: bool = False, reason: str | None = None) -> RefreshError:
    """Spark is gone. `given`: the session is the caller's own. `reason`: if it is known better."""
    silent = not isinstance(error, Py4JJavaError | PySparkException)  # else Java could talk
    if silent and driver.ran_out_of_memory():
        return ComputeError("Spark ran out of memory.", cause="out of memory", hint=ROOM)
    ended = "its Java process has ended" if driver.has_ended() else None
    cause = reason or ended or _cause(_text(error))
    return SparkLost(f"Spark is gone: {cause}.", hint=GIVEN if given else AGAIN)


def _text(error: Exception) -> str:
    """Java tells the deepest cause, below all that wraps it, as long as it lives."""
    try:
        cause = error.java_exception if isinstance(error, Py4JJavaError) else None
        while cause is not None and (deeper := cause.getCause()) is not None:
            cause = deeper
        return str(error if cause is None else cause.toString())
    except (Py4JError, OSError):
        return type(error).__name__


def _condition(text: str) -> str | None:
    found = re.match(r"\[([A-Z_.]+)\]", text)
    return found.group(1) if found else None


def _cause(text: str) -> str:
    """The first line; of a Python traceback the one that names the exception, of an error of the
    wire the details."""
    if details := re.search(r'RPC that terminated with.*?details = "(.*?)"$', text, re.S | re.M):
        text = details[1]
    if TRACEBACK in text:
        lines = text.rpartition(TRACEBACK)[2].splitlines()
        raised = [line for line in lines if line[:1].strip()]
        text = raised[0] if raised else text
    line = text.strip().splitlines()[0] if text.strip() else "unknown"
    return line[:300].rstrip(".")
