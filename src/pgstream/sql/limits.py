"""LIMIT, OFFSET and FETCH: which of them cut, and which query they cut."""

from __future__ import annotations

from sqlglot import exp

PICKING = frozenset(("expressions", "from_", "kind"))


def top_query(query: exp.Expr) -> exp.Expr:
    """The query whose ORDER BY and LIMIT decide which rows the whole query has.

    The query itself, or the subquery that it only picks columns from: SELECT a, b FROM (…) q.
    """
    query = _unwrapped(query)
    inner = picked_from(query)
    return query if inner is None else inner


def picked_from(query: exp.Expr) -> exp.Expr | None:
    """The subquery in FROM, if the query does no more than to pick columns of it."""
    if not isinstance(query, exp.Select) or not query.args.get("from_"):
        return None
    if any(value for name, value in query.args.items() if name not in PICKING):
        return None
    source = query.args["from_"].this
    if not isinstance(source, exp.Subquery) or source.args.get("joins"):
        return None
    alias = source.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        return None
    if not all(isinstance(item.unalias(), exp.Column | exp.Star) for item in query.expressions):
        return None
    inner = _unwrapped(source.this)
    return inner if isinstance(inner, exp.Select | exp.SetOperation) else None


def _unwrapped(query: exp.Expr) -> exp.Expr:
    while isinstance(query, exp.Subquery | exp.Paren) and not query.alias:
        query = query.this
    return query


def cuts(clause: exp.Expr | None) -> bool:
    """Whether the clause leaves rows out; LIMIT ALL, LIMIT NULL and OFFSET 0 do not."""
    if isinstance(clause, exp.Fetch):
        return True
    if not isinstance(clause, exp.Limit | exp.Offset):
        return False
    value = clause.expression
    while isinstance(value, exp.Paren | exp.Cast):
        value = value.this
    if isinstance(value, exp.Null):
        return False
    return not (isinstance(clause, exp.Offset) and value == exp.Literal.number(0))


def is_cut_without_order(node: exp.Expr) -> bool:
    return (
        isinstance(node, exp.Limit | exp.Fetch)
        and cuts(node)
        and node.parent is not None
        and not node.parent.args.get("order")
    )


def is_offset_without_limit(node: exp.Expr) -> bool:
    return (
        isinstance(node, exp.Offset)
        and cuts(node)
        and node.parent is not None
        and not cuts(node.parent.args.get("limit"))
    )


def counted(clause: exp.Expr) -> exp.Expr:
    """How many rows the clause keeps, or leaves out."""
    count: exp.Expr = clause.args["count" if isinstance(clause, exp.Fetch) else "expression"]
    return count


def is_with_ties(node: exp.Expr) -> bool:
    options = node.args.get("limit_options") if isinstance(node, exp.Fetch) else None
    return options is not None and bool(options.args.get("with_ties"))
