"""What PostgreSQL expects of tables: analyzed or not, partitioned, absent."""

from __future__ import annotations

from typing import Any

import pytest

from pgstream.algebra.operators.scan import Source
from pgstream.engine.postgres.statistics import (
    ROWS_OF_A_KEY,
    frequencies,
    read_statistics,
    share,
)

TABLES = """
CREATE TABLE t (a int PRIMARY KEY, b int, c text);
INSERT INTO t SELECT i, i % 10, repeat('x', 20) FROM generate_series(1, 10000) i;
CREATE TABLE p (a int, b int) PARTITION BY LIST (b);
CREATE TABLE p_1 PARTITION OF p FOR VALUES IN (1);
CREATE TABLE p_2 PARTITION OF p DEFAULT;
INSERT INTO p SELECT i, i % 3 FROM generate_series(1, 6000) i;
CREATE TABLE empty (a int)
"""
T, P, EMPTY, ABSENT = NAMES = [("public", name) for name in ("t", "p", "empty", "absent")]


def test_statistics(database: Any) -> None:
    connection = database.connect()
    connection.execute(TABLES)
    asked = [Source(1, *name, False) for name in NAMES]
    unknown = read_statistics(connection, asked)
    assert 1000 < unknown.rows(*T) < 100_000
    assert unknown.distinct(*T, ["a"]) == unknown.rows(*T)  # a unique index says so
    assert unknown.distinct(*T, ["b"]) == pytest.approx(unknown.rows(*T) / ROWS_OF_A_KEY)
    connection.execute("ANALYZE t, p, empty")
    known = read_statistics(connection, asked)
    assert (known.rows(*T), known.rows(*P)) == (10_000, 6000)
    assert known.distinct(*T, ["b"]) == 10
    assert known.distinct(*P, ["b"]) == 3
    assert known.distinct(*T, ["a", "b"]) == 10_000
    assert known.rows(*EMPTY) == known.rows(*ABSENT) == 0
    assert known.distinct(*ABSENT, ["a"]) == 1
    connection.execute("INSERT INTO t SELECT i, 0, '' FROM generate_series(10001, 30000) i")
    assert read_statistics(connection, asked).rows(*T) > 20_000  # by its pages


def test_the_share_of_rows_that_pass(database: Any) -> None:
    connection = database.connect()
    connection.execute(TABLES)
    connection.execute("ANALYZE t, p, empty")
    t, p, empty, _ = (Source(1, *name, False) for name in NAMES)
    assert share(connection, t, "b = 3") == pytest.approx(0.1, rel=0.2)
    assert share(connection, t, "true") == 1.0
    assert share(connection, p, "b = 1") == pytest.approx(1 / 3, rel=0.2)
    assert 0 < share(connection, empty, "a = 1") <= 1.0


def test_how_often_values_and_nulls_occur(database: Any) -> None:
    connection = database.connect()
    connection.execute(
        "CREATE TABLE sparse (a int PRIMARY KEY, b int, c int, d int);"
        "INSERT INTO sparse SELECT i, nullif(i % 10, 9), CASE WHEN i % 100 = 0 THEN i % 1000 END"
        " FROM generate_series(1, 10000) i; ANALYZE sparse"
    )
    found = frequencies(connection, Source(1, "public", "sparse", False))
    assert found["a"] == (1.0, 0.0)
    assert found["b"] == pytest.approx((1000.0, 1000.0), rel=0.1)
    assert found["c"] == pytest.approx((10.0, 9900.0), rel=0.1)
    assert found["d"].nulls == 10_000.0  # NULL in every row
