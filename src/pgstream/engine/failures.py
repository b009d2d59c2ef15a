"""Turns Spark's failures into refresh errors that a user can read."""

from __future__ import annotations

import re

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from pgstream.errors import ComputeError, NumericRange, RefreshError

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
ROOM = "Give Spark more spark.driver.memory, and small pages: spark.buffer.pageSize=1m."


def as_refresh_error(error: Exception) -> RefreshError:
    text = _root_cause(error) if isinstance(error, Py4JJavaError) else str(error)
    condition = error.getCondition() if isinstance(error, PySparkException) else None
    name = (condition or _condition(text) or "").partition(".")[0]
    not_a_decimal = name == "CAST_INVALID_INPUT" and '"DECIMAL(' in text  # NaN or infinity
    if name in TOO_WIDE or not_a_decimal or "exceeds the digits that Spark holds" in text:
        return NumericRange(
            "A numeric value needs more than the 38 digits that Spark holds.",
            detail=_first_line(text),
            hint="Declare the columns as numeric(p, s), or round them in a subquery.",
        )
    if "ZeroDivisionError" in text:
        name = "DIVIDE_BY_ZERO"
    cause = PLAIN_WORDS.get(name) or _first_line(text)
    message = f"Spark could not compute the change: {cause}."
    return ComputeError(message, cause=cause, hint=ROOM if "OutOfMemory" in text else None)


def _root_cause(error: Py4JJavaError) -> str:
    """What went wrong in the JVM, below all that wraps it."""
    cause = error.java_exception
    while (deeper := cause.getCause()) is not None:
        cause = deeper
    return str(cause.toString())


def _condition(text: str) -> str | None:
    found = re.match(r"\[([A-Z_.]+)\]", text)
    return found.group(1) if found else None


def _first_line(text: str) -> str:
    line = text.strip().splitlines()[0] if text.strip() else "unknown"
    return line[:300].rstrip(".")
