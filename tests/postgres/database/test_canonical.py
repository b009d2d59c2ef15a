"""pgstream._canonical gives equal values one text, and different values different ones."""

from __future__ import annotations

import json
import random
from typing import Any

import psycopg
import pytest

from type_cases import CASES, TYPES, Case

SEVERAL = {
    "interval", "jsonb", "span", "numeric[]", "float8[]", "interval[]", "jsonb[]", "bpchar[]",
    '"My Types"."Pair"', '"My Types"."Pair"[]', "numrange", "float_range", "nummultirange",
}  # fmt: skip


@pytest.fixture
def connection(database) -> psycopg.Connection:
    connection = database.connect()
    connection.execute(TYPES)
    return connection


@pytest.mark.parametrize("case", [c for c in CASES if c.type in SEVERAL], ids=lambda c: c.type)
def test_two_spellings_become_one(connection: psycopg.Connection, case: Case) -> None:
    first, second, other = (_canonical(connection, case.type, text) for text in case[1:4])
    assert first == second != other
    values = f"'{case.first}'::{case.type}", f"pgstream._canonical('{case.first}'::{case.type})"
    (equal,) = _row(connection, f"SELECT {values[0]} = {values[1]}")
    assert equal
    assert _canonical(connection, case.type, first) == first
    assert _row(connection, f"SELECT pgstream._canonical(NULL::{case.type}) IS NULL") == (True,)


def test_all_are_tried() -> None:
    assert {case.type for case in CASES} >= SEVERAL


@pytest.mark.parametrize(
    ("type_", "given", "canonical"),
    [
        ("jsonb", r'"1.0 \" 2.0"', r'"1.0 \" 2.0"'),
        ("jsonb", r'{"a\\": 1.0, "1.0": [10.0, 0.050, -1.10, 100, 1e2]}',
         r'{"a\\": 1, "1.0": [10, 0.05, -1.1, 100, 100]}'),
        ("numeric[]", "{}", "{}"),
        ("numeric[]", "[0:1][2:4]={{1.0,2,NULL},{3.50,4,10}}",
         "[0:1][2:4]={{1,2,NULL},{3.5,4,10}}"),
        ("numeric[]", "{{{1.0},{2.0}},{{3.0},{4.0}},{{5},{6}}}", "{{{1},{2}},{{3},{4}},{{5},{6}}}"),
        ("numrange", "empty", "empty"),
        ("numrange", "(,1.0]", "(,1]"),
        ("nummultirange", "{}", "{}"),
        ("interval", "1 mon -30 days", "00:00:00"),
        ("interval", "-1 mon 1 day", "-29 days"),
        ('"My Types"."Pair"', "(,,)", "(,,)"),
    ],
)  # fmt: skip
def test_the_text(connection: psycopg.Connection, type_: str, given: str, canonical: str) -> None:
    found = _canonical(connection, type_, given)
    assert json.loads(found) == json.loads(canonical) if type_ == "jsonb" else found == canonical
    assert "1.0," not in found


def test_intervals_are_equal_where_their_texts_are(connection: psycopg.Connection, request) -> None:
    rng = random.Random(int(request.config.getoption("--hypothesis-seed") or 0))
    spans = [
        f"{rng.randint(-2, 2)} mons {rng.randint(-4, 4) * 15} days {rng.randint(-6, 6) * 12} hours"
        f" {rng.choice((0, 0, 1))} microseconds"
        for _ in range(400)
    ]
    (wrong,) = _row(
        connection,
        "WITH v AS (SELECT s::interval AS i, pgstream._canonical(s::interval)::text AS t"
        " FROM unnest(%s::text[]) s)"
        " SELECT count(*) FROM v a, v b WHERE (a.i = b.i) <> (a.t = b.t)",
        (spans,),
    )
    assert wrong == 0


def _canonical(connection: psycopg.Connection, type_: str, text: str) -> str:
    (found,) = _row(connection, f"SELECT pgstream._canonical(%s::{type_})::text", (text,))
    return found


def _row(connection: psycopg.Connection, query: str, parameters: Any = None) -> tuple[Any, ...]:
    row = connection.execute(query.encode(), parameters).fetchone()
    assert row is not None
    return row
