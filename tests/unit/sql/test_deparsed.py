"""A name with a schema keeps it, and is never taken for PostgreSQL's own of the same name."""

from __future__ import annotations

import pytest
from sqlglot import exp

from pgstream.sql.deparsed import parse_deparsed, write
from pgstream.sql.levels import is_grouping
from pgstream.sql.walk import is_aggregate

QUALIFIED = (
    "SELECT (t.a OPERATOR(public.=) t.b) AS x FROM public.t",
    'SELECT ((t.a OPERATOR("My s".+) 1) OPERATOR(public.||) t.b) AS x FROM public.t',
    'SELECT (-(OPERATOR("My s".##) t.b)) AS x FROM public.t',
    "SELECT (t.a OPERATOR(public.=) ANY(ARRAY[1, 2])) AS x FROM public.t",
    "SELECT public.stddev(t.a) AS x, public.count(t.a) AS y FROM public.t",
    'SELECT public."grouping"(t.a) AS x, public.string_agg(t.a) AS y FROM public.t',
    'SELECT CAST(t.a AS public.text) AS x, CAST(t.b AS "My s"."bigint") AS y FROM public.t',
)


@pytest.mark.parametrize("text", QUALIFIED)
def test_a_schema_is_kept(text: str) -> None:
    query = parse_deparsed(text)
    assert write(query) == text
    own = (exp.EQ, exp.Add, exp.DPipe, exp.Count)
    assert not any(isinstance(n, own) or is_aggregate(n) or is_grouping(n) for n in query.walk())
