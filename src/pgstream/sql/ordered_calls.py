"""Gives an aggregate call an order, where its syntax wants it."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pgstream.sql.nodes import Worded


def order_of(call: exp.Expr) -> exp.Order | None:
    """The ORDER BY inside the call."""
    return next((p for p in call.iter_expressions() if isinstance(p, exp.Order)), None)


def is_distinct(call: exp.Expr) -> bool:
    """f(DISTINCT …)."""
    pieces = list(call.iter_expressions())
    order = order_of(call)
    return bool(pieces) and isinstance(order.this if order else pieces[-1], exp.Distinct)


def has_star(call: exp.Expr) -> bool:
    """f(*), in which no order can be written."""
    return any(isinstance(piece, exp.Star) for piece in call.iter_expressions())


def add_order(call: exp.Expr, keys: Sequence[exp.Ordered]) -> None:
    """Orders the call by the keys, after those that it has."""
    pieces = list(call.iter_expressions())
    order = order_of(call)
    added = [key.copy() for key in keys]
    if order is not None:
        order.set("expressions", [*order.expressions, *added])
    elif isinstance(call, Worded):
        call.append("expressions", exp.Order(expressions=added))
    else:
        pieces[-1].replace(exp.Order(this=pieces[-1].copy(), expressions=added))
