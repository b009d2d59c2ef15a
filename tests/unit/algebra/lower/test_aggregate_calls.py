"""Calls that PostgreSQL computes see their rows in the order of the rows' numbers."""

from __future__ import annotations

import pytest

from pgstream.algebra.lower.aggregate_calls import in_order
from pgstream.sql.deparsed import parse_deparsed, write

CALLS = {
    "corr(r.a, r.b)": "corr(r.a, r.b ORDER BY r.n)",
    "SUM(r.a) FILTER(WHERE r.b)": "SUM(r.a ORDER BY r.n) FILTER(WHERE r.b)",
    "array_agg(r.a ORDER BY r.b DESC)": "array_agg(r.a ORDER BY r.b DESC, r.n)",
    "string_agg(r.a, ',')": "string_agg(r.a, ',' ORDER BY r.n)",
    "JSON_ARRAYAGG(r.a)": "JSON_ARRAYAGG(r.a ORDER BY r.n)",
    "JSON_ARRAYAGG(r.a NULL ON NULL RETURNING jsonb)":
        "JSON_ARRAYAGG(r.a ORDER BY r.n NULL ON NULL RETURNING jsonb)",
    "JSON_ARRAYAGG(r.a ORDER BY r.b)": "JSON_ARRAYAGG(r.a ORDER BY r.b, r.n)",
}  # fmt: skip
AS_THEY_ARE = (
    "COUNT(*)",
    "MAX(r.a)",
    "SUM(DISTINCT r.a)",
    "string_agg(DISTINCT r.a, ',' ORDER BY r.a)",
    "rank(3) WITHIN GROUP (ORDER BY r.a) FILTER(WHERE r.b)",
    "JSON_OBJECTAGG(r.a: r.b RETURNING jsonb)",
)


@pytest.mark.parametrize("call", [*CALLS, *AS_THEY_ARE])
def test_order(call: str) -> None:
    parsed = parse_deparsed(f"SELECT {call} FROM r").expressions[0]
    assert write(in_order(parsed)) == CALLS.get(call, call)
