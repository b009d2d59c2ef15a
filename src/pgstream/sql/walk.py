"""Walks an expression of one SELECT, without entering the subqueries in it."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from pgstream.sql.nodes import OwnAggregate

AGGREGATES = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max)
# Every aggregate function of PostgreSQL that has no class of its own above.
OTHER_AGGREGATES = frozenset(
    """any_value array_agg bit_and bit_or bit_xor bool_and bool_or corr covar_pop covar_samp
    cume_dist dense_rank every json_agg json_agg_strict json_arrayagg json_object_agg
    json_object_agg_strict json_object_agg_unique json_object_agg_unique_strict json_objectagg
    jsonb_agg jsonb_agg_strict jsonb_object_agg jsonb_object_agg_strict jsonb_object_agg_unique
    jsonb_object_agg_unique_strict mode percent_rank percentile_cont percentile_disc range_agg
    range_intersect_agg rank regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope
    regr_sxx regr_sxy regr_syy stddev stddev_pop stddev_samp string_agg var_pop var_samp variance
    xmlagg""".split()
)


def is_subquery(node: exp.Expr) -> bool:
    """EXISTS (…), x IN (SELECT …), or a scalar subquery."""
    if isinstance(node, exp.In):
        return node.args.get("query") is not None
    return isinstance(node, exp.Exists | exp.Subquery)


def is_function(node: exp.Expr) -> bool:
    """A FROM item that is a function call, or several in ROWS FROM."""
    if not isinstance(node, exp.Table):
        return False
    return bool(node.args.get("rows_from")) or not isinstance(node.this, exp.Identifier)


def is_join(node: exp.Expr) -> bool:
    """Joins in parentheses, in FROM."""
    first = (exp.Lateral, exp.Subquery, exp.Table, exp.Values)
    return isinstance(node, exp.Subquery) and isinstance(node.this, first)


def is_qualified(call: exp.Expr) -> bool:
    """public.stddev(x) is a user's function; an aggregate of his is a node of its own."""
    return isinstance(call.parent, exp.Dot)


def is_aggregate(node: exp.Expr) -> bool:
    """An aggregate call, also with FILTER and WITHIN GROUP. (A window function is none, nor is
    schema.function(…).)"""
    if isinstance(node, OwnAggregate):
        return True
    if isinstance(node.parent, exp.Dot) and node.arg_key == "expression":
        return False
    if isinstance(node, exp.Anonymous):
        return node.name.lower() in OTHER_AGGREGATES and not is_qualified(node)
    return isinstance(node, (*AGGREGATES, exp.AggFunc, exp.Filter, exp.WithinGroup))


def argument_value(node: exp.Expr) -> exp.Expr:
    """The value that is an argument of a call, also in f(a => value) and f(VARIADIC value)."""
    if isinstance(node, exp.Kwarg):
        value: exp.Expr = node.args["expression"]
        return value
    return node.this if isinstance(node, exp.Variadic) else node


def argument_mark(node: exp.Expr) -> str:
    """What stands before that value."""
    if isinstance(node, exp.Kwarg):
        return f"{exp.to_identifier(node.name, quoted=True).sql(dialect='postgres')} => "
    return "VARIADIC " if isinstance(node, exp.Variadic) else ""


def values(node: exp.Expr) -> Iterator[exp.Expr]:
    """What stands directly in the node. In a window function that are its arguments, its
    condition, its partition and its order: the call itself is no value."""
    if not isinstance(node, exp.Window):
        yield from node.iter_expressions()
        return
    call = node.this
    while isinstance(call, exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
        if isinstance(call, exp.Filter):
            yield call.args["expression"]
        call = call.this
    yield from call.iter_expressions()
    for name, part in node.args.items():
        if name != "this" and part:
            yield from (p for p in (part if isinstance(part, list) else [part])
                        if isinstance(p, exp.Expr))  # fmt: skip


def parts(node: exp.Expr) -> Iterator[exp.Expr]:
    """The node and what is in it; a subquery is yielded and not entered."""
    yield node
    if not is_subquery(node):
        for child in values(node):
            yield from parts(child)


def above_aggregates(node: exp.Expr) -> Iterator[exp.Expr]:
    """Like `parts`, and an aggregate call is not entered either."""
    yield node
    if not is_subquery(node) and not is_aggregate(node):
        for child in values(node):
            yield from above_aggregates(child)


def bare(node: exp.Expr) -> exp.Expr:
    """Without parentheses around it: PostgreSQL prints GROUP BY (f(x)), but SELECT f(x). Those of
    a scalar subquery are its own; in GROUPING SETS it has a second pair."""
    while isinstance(node, exp.Paren) or _is_wrapped(node):
        node = node.this
    return node


def unwrapped(query: exp.Expr) -> exp.Expr:
    """The query itself, without the parentheses around it."""
    while isinstance(query, exp.Subquery | exp.Paren):
        query = query.this
    return query


def and_parts(condition: exp.Expr) -> list[exp.Expr]:
    """The conditions that AND connects, without parentheses around them."""
    condition = bare(condition)
    if isinstance(condition, exp.And):
        return and_parts(condition.this) + and_parts(condition.expression)
    return [condition]


def _is_wrapped(node: exp.Expr) -> bool:
    return isinstance(node, exp.Subquery) and isinstance(node.this, exp.Subquery | exp.Paren)
