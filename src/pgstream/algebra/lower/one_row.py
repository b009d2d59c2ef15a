"""A subquery of aggregates without GROUP BY, by the groups of what it reads from outside.

    (SELECT count(*) + max(b.v) FROM b WHERE b.k = a.k)
    left join with SELECT b.k, count(*) AS a0, max(b.v) AS a1 FROM b GROUP BY b.k,
    then coalesce(a0, 0) + a1

It has one row also where there is nothing to aggregate: there is no group then.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pgstream.algebra.lower.aggregate_calls import function_of
from pgstream.algebra.lower.correlation import named
from pgstream.algebra.lower.decorrelate import Pair
from pgstream.algebra.lower.grouped import COUNTS
from pgstream.algebra.lower.of_no_rows import counts_nothing
from pgstream.sql.walk import above_aggregates, is_aggregate


def calls_of(items: Sequence[exp.Expr]) -> list[exp.Expr] | None:
    """The aggregates of the SELECT list; None if one has a value for no rows that must be asked
    for."""
    calls: list[exp.Expr] = []
    for item in items:
        for call in filter(is_aggregate, above_aggregates(item)):
            if call not in calls:
                calls.append(call)
    return None if any(map(counts_nothing, calls)) else calls


def groups_of(inner: exp.Select, pairs: Sequence[Pair], calls: Sequence[exp.Expr]) -> exp.Select:
    """The keys of the pairs, and what the aggregates are for each: k0, …, a0, …"""
    groups = inner.copy()
    values = [exp.alias_(call.copy(), f"a{i}") for i, call in enumerate(calls)]
    groups.set("expressions", [*named(pairs), *values])
    if pairs:
        groups.set("group", exp.Group(expressions=[p.inner.copy() for p in pairs]))
    return groups


def finished(item: exp.Expr, calls: list[exp.Expr], alias: str) -> exp.Expr:
    """The item with the columns of the groups in the place of the calls; a group that is not there
    counts 0."""

    def column(part: exp.Expr) -> exp.Expr:
        if part not in calls:
            return part
        value = exp.column(f"a{calls.index(part)}", table=alias)
        if function_of(part) not in COUNTS:
            return value
        return exp.Coalesce(this=value, expressions=[zero()])

    return item.copy().transform(column)


def zero() -> exp.Expr:
    return exp.cast(exp.Literal.number(0), "bigint")
