"""Rows that differ in trailing zeros only: the one that is meant goes first."""

from __future__ import annotations

import pytest

from pgstream.algebra.operators.node import Column
from pgstream.algebra.types import INTEGER, NUMERIC, named
from pgstream.database.connection import Connection
from pgstream.errors import IntegrityError
from pgstream.storage.apply import apply
from pgstream.storage.target import Target
from pgstream.storage.temporary import create_temporary

COLUMNS = (Column("id", INTEGER), Column("x", NUMERIC), Column("doc", named("json")))


def applied(connection: Connection, stored: list[str], delta: dict[str, int]) -> None:
    """A stream table of these values, all in one row otherwise, to which the delta is applied."""
    connection.execute(
        "CREATE TABLE st (id int, x numeric, doc json, __pgs_row_id bigint NOT NULL)"
    )
    for value in stored:
        connection.execute("INSERT INTO st VALUES (1, %s::numeric, '{}', 7)", (value,))
    target = Target(1, 0, "public", "st", COLUMNS)
    with connection.transaction():
        table = create_temporary(connection, "delta", 1, COLUMNS)
        for value, weight in delta.items():
            connection.execute(
                "INSERT INTO pg_temp.__pgs_delta_1 VALUES (1, %s::numeric, '{}', 7, %s)",
                (value, weight),
            )
        result = apply(connection, target, table)
        assert result.rows_deleted == -sum(w for w in delta.values() if w < 0)
        connection.execute("CREATE TABLE seen AS SELECT x, __pgs_weight AS w FROM __pgs_delta_1")


def texts(connection: Connection, query: str) -> list[str]:
    return sorted(row[0] for row in connection.execute(query).fetchall())


CASES = {
    "the same zeros": (["1.5", "1.50", "1.50"], {"1.50": -1, "1.5": -1}, ["1.50"], ["1.5", "1.50"]),
    "two of three": (["1.5", "1.50", "1.50"], {"1.50": -2}, ["1.5"], ["1.50", "1.50"]),
    "other zeros": (["1.500", "2"], {"1.5": -1, "1.50": 1}, ["1.50", "2"], ["1.500"]),
    "some of both": (["1.500", "1.5"], {"1.50": -1, "1.5": -1}, [], ["1.5", "1.500"]),
    "NaN": (["NaN", "Infinity"], {"NaN": -1, "-Infinity": 1}, ["-Infinity", "Infinity"], ["NaN"]),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_is_removed(
    owner: Connection, case: tuple[list[str], dict[str, int], list[str], list[str]]
) -> None:
    stored, delta, left, removed = case
    applied(owner, stored, delta)
    assert texts(owner, "SELECT x::text FROM st") == left
    assert texts(owner, "SELECT x::text FROM seen WHERE w < 0") == removed


def test_a_row_that_is_not_there(owner: Connection) -> None:
    with pytest.raises(IntegrityError):
        applied(owner, ["1.5"], {"1.5": -1, "1.50": -1})
