"""Spark's failures in our words."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import PySparkRuntimeError, PythonException

from pgstream.engine.spark.failures import as_refresh_error, gone, not_opened
from pgstream.errors import ComputeError, NumericRange, SparkLost

TRACE = """
  An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "worker.py", line 1, in main
KeyError: 'first'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "slices.py", line 42, in read
    cursor.execute(partition.sql)
adbc_driver_manager.OperationalError: IO: connection refused
\tIs the server running?

\tat org.apache.spark.api.python.BasePythonRunner
"""


def test_a_traceback_is_named_by_its_last_exception() -> None:
    error = as_refresh_error(PythonException(TRACE))
    assert isinstance(error, ComputeError)
    assert error.cause == "adbc_driver_manager.OperationalError: IO: connection refused"


@pytest.mark.parametrize(
    "error",
    [
        Py4JNetworkError("Answer from Java side is empty"),
        ConnectionRefusedError(111, "Connection refused"),
        EOFError(),
        Py4JError(
            "java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext."
        ),
        PySparkRuntimeError("[INVALID_HANDLE.SESSION_NOT_FOUND] The handle is invalid."),
        PySparkRuntimeError("Job aborted: ExecutorLostFailure (executor 1 exited)"),
    ],
)
def test_a_spark_that_is_gone_is_transient(error: Exception) -> None:
    for known in (as_refresh_error(error), not_opened(error, given=False)):
        assert isinstance(known, SparkLost)
        assert known.transient
        assert known.hint is not None
        assert "next refresh" in known.hint


def test_a_session_of_the_callers_is_his_to_open() -> None:
    known = gone(ConnectionError("closed"), given=True)
    assert known.hint is not None
    assert "given" in known.hint


def test_what_keeps_spark_from_starting_is_told() -> None:
    known = not_opened(PySparkRuntimeError("[JAVA_GATEWAY_EXITED] Java exited"), given=False)
    assert isinstance(known, ComputeError)
    assert "cannot be started" in known.message
    assert known.hint is not None
    assert "Java 17" in known.hint


def test_digits() -> None:
    error = PySparkRuntimeError("[NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION] too wide")
    assert isinstance(as_refresh_error(error), NumericRange)
