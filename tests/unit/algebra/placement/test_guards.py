"""Which expressions a scan computes under a condition, and under which."""

from __future__ import annotations

import pytest
from sqlglot import exp

from pgstream.algebra.placement.guards import (
    filtered_tables,
    guarded,
    is_guard,
    may_fail,
    on_conditions,
)
from pgstream.sql.deparsed import parse_deparsed, write


def parsed(expression: str) -> exp.Expr:
    node: exp.Expr = parse_deparsed(f"SELECT ({expression}) AS v FROM t").expressions[0].this
    return node


@pytest.mark.parametrize(
    "expression", ["1 / x", "x::integer", "ln(x)", "public.f(x)", "x + 1", "j @? '$.a'"]
)
def test_what_may_fail(expression: str) -> None:
    assert may_fail(parsed(expression))


@pytest.mark.parametrize(
    "expression",
    ["lower(s)", "date_trunc('day'::text, d)", "j ->> 'a'::text", "x = 1", "(x)::text", "s || 'a'"],
)
def test_what_never_fails(expression: str) -> None:
    assert not may_fail(parsed(expression))


@pytest.mark.parametrize(
    ("condition", "fine"),
    [
        ("x <> 0", True),
        ("s ~ '^a'::text", True),
        ("jsonb_typeof(j) = 'array'::text", True),
        ("random() < 0.5", False),
        ("x < random()", False),
        ("public.f(x)", False),
        ("true", False),
    ],
)
def test_a_guard_has_one_value_for_a_row(condition: str, fine: bool) -> None:
    assert is_guard(parsed(condition)) is fine


@pytest.mark.parametrize(
    ("tables", "kept"),
    [
        ("public.a", {"a"}),
        ("public.a x", {"x"}),
        ("a, b", {"a", "b"}),
        ("(a JOIN b ON (a.i = b.i))", {"a", "b"}),
        ("(a LEFT JOIN b ON (a.i = b.i))", {"a"}),
        ("((a LEFT JOIN b ON (a.i = b.i)) JOIN c ON (a.i = c.i))", {"a", "c"}),
        ("(a LEFT JOIN (b JOIN c ON (b.i = c.i)) ON (a.i = b.i))", {"a"}),
        ("(a RIGHT JOIN b ON (a.i = b.i))", set()),
        ("((a FULL JOIN b ON (a.i = b.i)) JOIN c ON (a.i = c.i))", set()),
        ("(SELECT d.i FROM d) q, a", {"a"}),
    ],
)
def test_rows_of_these_tables_pass_where(tables: str, kept: set[str]) -> None:
    select = parse_deparsed(f"SELECT 1 AS v FROM {tables} WHERE true")
    assert isinstance(select, exp.Select)
    assert filtered_tables(select) == kept


@pytest.mark.parametrize(
    ("tables", "asked"),
    [
        ("a, b", []),
        ("(a JOIN b ON ((a.i = b.i) AND (a.x <> 0)))", ["a.i = b.i", "a.x <> 0"]),
        ("(a LEFT JOIN b ON (a.x = 1))", []),
        ("((a LEFT JOIN b ON (a.x = 1)) JOIN c ON (a.i = c.i))", ["a.i = c.i"]),
        ("((a JOIN c ON (a.i = c.i)) LEFT JOIN b ON (a.x = 1))", ["a.i = c.i"]),
        ("(a LEFT JOIN (b JOIN c ON (b.i = c.i)) ON (a.i = b.i))", []),
    ],
)
def test_what_inner_joins_ask(tables: str, asked: list[str]) -> None:
    select = parse_deparsed(f"SELECT 1 AS v FROM {tables}")
    assert isinstance(select, exp.Select)
    assert [write(part) for part in on_conditions(select)] == asked


def test_a_guard_is_written_around_the_expression() -> None:
    assert guarded("1 / x", []) == "1 / x"
    assert guarded("1 / x", ["x <> 0", "b"]) == "CASE WHEN (x <> 0) AND (b) THEN 1 / x END"
