"""Walks an expression of one SELECT, without entering the subqueries in it."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

AGGREGATES = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max)


def is_subquery(node: exp.Expr) -> bool:
    """EXISTS (…), x IN (SELECT …), or a scalar subquery."""
    if isinstance(node, exp.In):
        return node.args.get("query") is not None
    return isinstance(node, exp.Exists | exp.Subquery)


def parts(node: exp.Expr) -> Iterator[exp.Expr]:
    """The node and what is in it; a subquery is yielded and not entered."""
    yield node
    if not is_subquery(node):
        for child in node.iter_expressions():
            yield from parts(child)


def is_aggregate(node: exp.Expr) -> bool:
    """An aggregate call, also with FILTER."""
    return isinstance(node, (*AGGREGATES, exp.Filter))


def above_aggregates(node: exp.Expr) -> Iterator[exp.Expr]:
    """Like `parts`, and an aggregate call is not entered either."""
    yield node
    if not is_subquery(node) and not is_aggregate(node):
        for child in node.iter_expressions():
            yield from above_aggregates(child)
