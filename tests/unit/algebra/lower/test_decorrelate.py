"""decorrelated: equalities with the query around a subquery are taken out of it."""

from __future__ import annotations

import pytest
from sqlglot import exp

from pgstream.algebra.lower.decorrelate import decorrelated
from pgstream.sql.deparsed import parse_deparsed, write


def test_equalities_with_the_query_around_are_taken_out() -> None:
    query = parse_deparsed("SELECT 1 FROM b WHERE ((b.k = a.k) AND (b.v > 0))")
    found = decorrelated(query, tests=True)
    assert found is not None
    inner, pairs = found
    assert [(write(pair.inner), write(pair.outer)) for pair in pairs] == [("b.k", "a.k")]
    assert "a.k" not in write(inner)
    assert "b.v" in write(inner)
    assert "a.k" in write(query)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1 FROM b WHERE (b.k > a.k)",
        "SELECT a.x FROM b WHERE (b.k = a.k)",
        "SELECT b.v FROM b WHERE (b.k = a.k) LIMIT 1",
        "SELECT count(*) AS count FROM b WHERE (b.k = a.k) GROUP BY b.v",
    ],
)
def test_what_would_change_the_meaning_is_left(text: str) -> None:
    assert decorrelated(parse_deparsed(text), tests=True) is None


def test_a_scalar_subquery_must_aggregate() -> None:
    one = "SELECT max(b.v) AS max FROM b WHERE (b.k = a.k)"
    assert decorrelated(parse_deparsed(one), tests=False) is not None
    many = "SELECT b.v FROM b WHERE (b.k = a.k)"
    assert decorrelated(parse_deparsed(many), tests=False) is None


def test_what_reads_nothing_from_outside_is_a_relation() -> None:
    found = decorrelated(parse_deparsed("SELECT b.v FROM b LIMIT 3"), tests=True)
    assert found is not None
    assert isinstance(found[0], exp.Select)
    assert found[1] == []
