"""on_subqueries: subqueries leave ON for WHERE, where all joins are inner joins.

Before: FROM a JOIN b ON a.k = b.k AND EXISTS (SELECT …)
After:  FROM a JOIN b ON a.k = b.k WHERE EXISTS (SELECT …)
"""

from __future__ import annotations

from sqlglot import exp

from pgstream.sql.parse import Query
from pgstream.sql.walk import is_join


def on_subqueries(query: Query) -> Query:
    tree: Query = query.copy()
    for select in tree.find_all(exp.Select):
        joins = list(_joins(select))
        if not any(join.side for join in joins):
            for join in joins:
                _move(join, select)
    return tree


def _joins(node: exp.Expr) -> list[exp.Join]:
    """The joins of a FROM clause, also those in parentheses."""
    clause = node.args.get("from_")
    items = [clause.this] if clause else []
    found: list[exp.Join] = []
    waiting = [node, *items]
    while waiting:
        part = waiting.pop()
        for join in part.args.get("joins") or ():
            found.append(join)
            waiting.append(join.this)
        if is_join(part) and not part.alias:  # below an alias, names are others
            waiting.append(part.this)
    return found


def _move(join: exp.Join, select: exp.Select) -> None:
    condition = join.args.get("on")
    if condition is None:
        return
    conditions = list(condition.unnest().flatten()) if _is_and(condition) else [condition]
    moved = [part for part in conditions if part.find(exp.Query)]
    if moved:
        kept = [part.copy() for part in conditions if part not in moved]
        join.set("on", exp.and_(*kept, dialect="postgres") if kept else exp.true())
        select.where(*(part.copy() for part in moved), dialect="postgres", copy=False)


def _is_and(condition: exp.Expr) -> bool:
    return isinstance(condition.unnest(), exp.And)
