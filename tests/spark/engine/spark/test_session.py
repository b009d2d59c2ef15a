"""What Spark is given to run, and what it says when it fails."""

from __future__ import annotations

from typing import Any

import pytest

from pgstream.engine.spark.session import Sessions
from pgstream.errors import ComputeError
from pgstream.settings import Settings

MANY = 40


def test_a_task_holds_many_joins_and_aggregates(spark: Any) -> None:
    """Each takes memory of its own from the task's share."""
    groups = (
        "(SELECT c0, sum(c1) AS c1 FROM VALUES (1, 2), (1, 3), (2, 4) AS v(c0, c1) GROUP BY c0)"
    )
    joined = " JOIN ".join(f"{groups} t{i}" for i in range(MANY))
    same = " AND ".join(f"t0.c0 = t{i}.c0" for i in range(1, MANY))
    names = ", ".join(f"t{i}" for i in range(1, MANY))
    total = " + ".join(f"t{i}.c1" for i in range(MANY))
    frame = Sessions(Settings(), spark).small.sql(
        f"SELECT /*+ COALESCE(1), SHUFFLE_HASH({names}) */ t0.c0, {total} AS total"
        f" FROM {joined} WHERE {same}"
    )
    rows = sorted(map(tuple, frame.toArrow().to_pydict().values()))
    assert rows == [(1, 2), (5 * MANY, 4 * MANY)]


def test_a_failure_inside_the_jvm_is_named(spark: Any) -> None:
    sessions = Sessions(Settings(), spark)
    frame = sessions.small.sql(
        "SELECT java_method('java.lang.Integer', 'parseInt', c0) FROM VALUES ('x') v(c0)"
    )
    with pytest.raises(ComputeError, match="NumberFormatException"), sessions.guarded():
        frame.toArrow()


def test_a_failure_inside_python_is_named(spark: Any) -> None:
    """By the exception, not by the first line of its traceback."""
    sessions = Sessions(Settings(), spark)

    def fail(number: int) -> int:
        raise ValueError(f"odd number {number}")

    sessions.small.udf.register("fails", fail, "int")
    frame = sessions.small.sql("SELECT fails(c0) FROM VALUES (7) v(c0)")
    with pytest.raises(ComputeError) as raised, sessions.guarded():
        frame.toArrow()
    assert raised.value.cause == "ValueError: odd number 7"


def test_what_is_not_sparks_passes(spark: Any) -> None:
    with pytest.raises(KeyError), Sessions(Settings(), spark).guarded():
        raise KeyError("ours")
