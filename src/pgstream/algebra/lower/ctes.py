"""with_ctes: the names of a WITH clause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

from sqlglot import exp

from pgstream.algebra.lower.recursion import recursive_cte, refers_to_itself
from pgstream.algebra.lower.scope import Context
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.shared import Shared


def with_ctes(node: exp.Expr, context: Context) -> Context:
    """The context inside of the query. Each CTE sees those before it; those of WITH RECURSIVE
    see one another. Each is lowered at its first use, and not at all without one."""
    clause = node.args.get("with_")
    if clause is None:
        return context
    recursive = bool(clause.args.get("recursive"))
    ctes = dict(context.ctes)
    inner = replace(context, ctes=ctes)
    for cte in clause.expressions:
        seen = inner if recursive else replace(context, ctes=dict(ctes))
        ctes[cte.alias] = cache(_meaning(node, cte, seen, recursive))
    return inner


def _meaning(node: exp.Expr, cte: exp.CTE, context: Context, recursive: bool) -> Callable[[], Node]:
    if recursive and refers_to_itself(cte):
        return partial(recursive_cte, cte, context, with_ctes)
    if _uses(node, cte.alias) > 1:
        return lambda: Shared(context.query(_renamed(cte)), cte.alias)
    return lambda: context.query(_renamed(cte))


def _uses(query: exp.Expr, name: str) -> int:
    """How often a query reads the CTE of this name."""
    tables = query.find_all(exp.Table)
    return sum(1 for table in tables if table.name == name and not table.db)


def _renamed(cte: exp.CTE) -> exp.Expr:
    """The query with its first columns renamed: WITH q(a, b) AS (…)."""
    names = [c.name for c in cte.args["alias"].args.get("columns") or ()]
    query: exp.Expr = cte.this
    if not names:
        return query
    query = first = query.copy()
    while isinstance(first, exp.SetOperation | exp.Subquery):
        first = first.this
    for i, name in enumerate(names):
        item = first.expressions[i]
        item = item.this if isinstance(item, exp.Alias) else item
        first.expressions[i] = exp.alias_(item.copy(), name, quoted=True)
    return query
