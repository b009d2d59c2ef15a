"""decorrelated: equalities with the query around a subquery are taken out of it."""

from __future__ import annotations

import pytest
from sqlglot import exp

from pgstream.algebra.lower.decorrelate import correlated_rows, decorrelated, with_keys
from pgstream.sql.deparsed import parse_deparsed, write


def test_equalities_with_the_query_around_are_taken_out() -> None:
    query = parse_deparsed("SELECT 1 FROM b WHERE ((b.k = a.k) AND (b.v > 0))")
    found = decorrelated(query, tests=True)
    assert found is not None
    assert [(write(pair.inner), write(pair.outer)) for pair in found.pairs] == [("b.k", "a.k")]
    assert found.others == []
    assert "a.k" not in write(found.inner)
    assert "b.v" in write(found.inner)
    assert "a.k" in write(query)


def test_other_conditions_over_both_are_taken_out_too() -> None:
    query = parse_deparsed("SELECT 1 FROM b WHERE ((b.k = a.k) AND (b.v <> a.v) AND (a.x > 1))")
    found = decorrelated(query, tests=True)
    assert found is not None
    assert len(found.pairs) == 1
    assert [write(one) for one in found.others] == ["b.v <> a.v", "a.x > 1"]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a.x FROM b WHERE (b.k = a.k)",
        "SELECT b.v FROM b WHERE (b.k = a.k) LIMIT 1",
        "SELECT count(*) AS count FROM b WHERE (b.k = a.k)",
        "SELECT count(*) AS count FROM b WHERE (b.k = a.k) HAVING (count(*) > 1)",
        "SELECT count(*) AS count FROM b WHERE (b.k = a.k) GROUP BY ()",
        "SELECT b.v FROM b WHERE (b.k > a.k) GROUP BY b.v",
        "SELECT b.v FROM b WHERE (b.k = a.k) GROUP BY b.v HAVING (count(*) > a.x)",
        "SELECT row_number() OVER (ORDER BY b.v) AS n FROM b WHERE (b.k = a.k)",
        "SELECT 1 FROM (SELECT count(*) AS n FROM b WHERE (b.k = a.k)) q",
        "SELECT 1 FROM (SELECT b.v FROM b WHERE (b.k = a.k) ORDER BY b.v LIMIT 1) q",
        "SELECT 1 FROM c LEFT JOIN (SELECT b.v FROM b WHERE (b.k = a.k)) q ON (q.v = c.v)",
        "SELECT 1 FROM (SELECT b.v FROM b WHERE (b.k = a.k)) q RIGHT JOIN c ON (q.v = c.v)",
    ],
)
def test_what_would_change_the_meaning_is_left(text: str) -> None:
    assert decorrelated(parse_deparsed(text), tests=True) is None


GROUPED = {
    "SELECT b.v FROM b WHERE (b.k = a.k) GROUP BY b.v": (
        "SELECT b.v, b.k AS key0 FROM b GROUP BY b.v, b.k"
    ),
    "SELECT max(b.v) AS m FROM b WHERE (b.k = a.k) GROUP BY b.k HAVING (count(*) > 1)": (
        "SELECT MAX(b.v) AS m, b.k AS key0 FROM b GROUP BY b.k HAVING (COUNT(*) > 1)"
    ),
    "SELECT DISTINCT b.v FROM b WHERE (b.k = (a.k + 1))": (
        "SELECT DISTINCT b.v, b.k AS key0 FROM b"
    ),
    "SELECT q.s FROM (SELECT sum(b.v) AS s FROM b WHERE (b.k = a.k) GROUP BY b.z) q": (
        "SELECT q.s, q.__pgs_key_0 AS key0 FROM"
        " (SELECT SUM(b.v) AS s, b.k AS __pgs_key_0 FROM b GROUP BY b.z, b.k) AS q"
    ),
    "SELECT q.s FROM c JOIN (SELECT b.v FROM b WHERE (b.k = a.k)) q(s) ON (q.s = c.v)"
    " LEFT JOIN d ON (d.v = c.v)": (
        "SELECT q.s, q.__pgs_key_0 AS key0 FROM c"
        " JOIN (SELECT b.v, b.k AS __pgs_key_0 FROM b) AS q(s, __pgs_key_0) ON (q.s = c.v)"
        " LEFT JOIN d ON (d.v = c.v)"
    ),
}


@pytest.mark.parametrize("text", GROUPED)
def test_rows_of_one_value_are_some_of_all(text: str) -> None:
    found = correlated_rows(parse_deparsed(text))
    assert found is not None
    rows, pairs = found
    shown = with_keys(rows, pairs, ["key0"])
    wanted = parse_deparsed(GROUPED[text])
    assert write(shown) == write(wanted)


def test_a_scalar_subquery_must_aggregate() -> None:
    one = "SELECT max(b.v) AS max FROM b WHERE (b.k = a.k)"
    assert decorrelated(parse_deparsed(one), tests=False) is not None
    many = "SELECT b.v FROM b WHERE (b.k = a.k)"
    assert decorrelated(parse_deparsed(many), tests=False) is None


def test_what_reads_nothing_from_outside_is_a_relation() -> None:
    found = decorrelated(parse_deparsed("SELECT b.v FROM b LIMIT 3"), tests=True)
    assert found is not None
    assert isinstance(found.inner, exp.Select)
    assert found.pairs == []
