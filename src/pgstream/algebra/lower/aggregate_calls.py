"""aggregate_calls: what a call of an aggregate says: its function, its argument, its FILTER."""

from __future__ import annotations

from typing import NamedTuple

from sqlglot import exp

from pgstream.algebra.operators.aggregate import MOMENTS
from pgstream.algebra.placement.guards import may_fail
from pgstream.sql.ordered_calls import add_order, has_star, is_distinct
from pgstream.sql.walk import AGGREGATES

ORDERLESS = frozenset(
    ("count", "min", "max", "bool_and", "bool_or", "every", "bit_and", "bit_or", "bit_xor",
     "regr_count", "range_agg", "range_intersect_agg", "json_objectagg")
)  # fmt: skip
OF_VALUES = ("count", "sum", "avg", "min", "max")
NUMBER = "n"


class Counted(NamedTuple):
    """An aggregate of Spark's: its name, its argument (None is *), its FILTER, and whether it asks
    for the different values only."""

    function: str
    argument: exp.Expr | None
    condition: exp.Expr | None
    is_distinct: bool = False


def counted_call(node: exp.Expr) -> Counted | None:
    """The aggregate, if Spark knows its function."""
    condition: exp.Expr | None = None
    if isinstance(node, exp.Filter):
        condition = node.args["expression"].this
        node = node.args["this"]
    if isinstance(node, exp.Anonymous) and node.name.lower() in MOMENTS:
        argument = node.expressions[0]
    elif isinstance(node, AGGREGATES):
        argument = node.this
    else:
        return None
    if isinstance(argument, exp.Distinct | exp.Order):
        return None
    return _counted(node, None if isinstance(argument, exp.Star) else argument, condition)


def counted_once(node: exp.Expr) -> Counted | None:
    """The same of an aggregate that may have DISTINCT before its only argument."""
    inner = node.this if isinstance(node, exp.Filter) else node
    if not (isinstance(inner, AGGREGATES) and isinstance(inner.this, exp.Distinct)):
        return counted_call(node)
    values = inner.this.expressions
    if len(values) != 1 or function_of(inner) not in OF_VALUES:
        return None
    condition = node.args["expression"].this if isinstance(node, exp.Filter) else None
    is_distinct = function_of(inner) not in ("min", "max")
    return _counted(inner, values[0], condition)._replace(is_distinct=is_distinct)


def _counted(call: exp.Expr, argument: exp.Expr | None, condition: exp.Expr | None) -> Counted:
    """What may fail is computed only for rows that FILTER lets through, whoever computes it."""
    if argument is not None and condition is not None and may_fail(argument):
        chosen = exp.If(this=condition.copy(), true=argument.copy())
        argument, condition = exp.Case(ifs=[chosen]), None
    return Counted(function_of(call), argument, condition)


def in_order(call: exp.Expr) -> exp.Expr:
    """The call over rows in the order of their numbers, where the order may show: in what it
    collects, in the last digits of a float, and between equal values of an order of its own."""
    inner = call
    while isinstance(inner, exp.Filter):
        inner = inner.this
    if isinstance(inner, exp.WithinGroup) or function_of(inner) in ORDERLESS:
        return call
    if is_distinct(inner) or has_star(inner):
        return call
    add_order(inner, [exp.Ordered(this=exp.column(NUMBER, table="r"), nulls_first=False)])
    return call


def function_of(call: exp.Expr) -> str:
    while isinstance(call, exp.Filter | exp.WithinGroup):
        call = call.this
    assert isinstance(call, exp.Func)
    return call.name.lower() if isinstance(call, exp.Anonymous) else call.sql_name().lower()
