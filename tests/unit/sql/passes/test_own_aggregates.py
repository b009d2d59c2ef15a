"""Calls of the user's aggregates are told from those of functions."""

from __future__ import annotations

import pytest
from sqlglot import exp

from pgstream.sql.deparsed import parse_deparsed, write
from pgstream.sql.nodes import OwnAggregate
from pgstream.sql.passes.own_aggregates import own_aggregates
from pgstream.sql.walk import is_aggregate

NAMES = frozenset((("public", "total"), ("My s", "To T")))


@pytest.mark.parametrize(
    "call",
    [
        "public.total(t.x)",
        "public.total(*)",
        "public.total(DISTINCT t.x, t.y ORDER BY t.x DESC)",
        'public.total(t.x) FILTER(WHERE ("My s"."To T" > 1))',
        '"My s"."To T"(VARIADIC t.x)',
        '"My s"."To T"(0.5) WITHIN GROUP (ORDER BY t.x)',
    ],
)
def test_an_aggregate_is_one_and_is_written_as_before(call: str) -> None:
    made = own_aggregates(parse_deparsed(f"SELECT {call} AS a FROM t"), NAMES)
    assert is_aggregate(made.expressions[0].this)
    assert len(list(made.find_all(OwnAggregate))) == 1
    assert write(made) == f"SELECT {call} AS a FROM t"


@pytest.mark.parametrize(
    "call", ["public.total(t.x) OVER (ORDER BY t.x)", "public.other(t.x)", 'public."To T"(t.x)']
)
def test_window_functions_and_functions_stay(call: str) -> None:
    query = parse_deparsed(f"SELECT {call} AS a FROM t")
    assert own_aggregates(query, NAMES) == query
    assert not query.find(exp.AggFunc)
