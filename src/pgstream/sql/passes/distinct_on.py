"""distinct_on: the first row of each group of equals is the one with row number 1.

Before: SELECT DISTINCT ON (k) k, x FROM t ORDER BY k, x DESC LIMIT 5
After:  SELECT q.c0 AS k, q.c1 AS x
          FROM (SELECT p.c0, p.c1, row_number() OVER (PARTITION BY p.c0 ORDER BY p.c1 DESC) AS n
                  FROM (SELECT t.k AS c0, t.x AS c1 FROM t) p) q
         WHERE q.n = 1 ORDER BY q.c0, q.c1 DESC LIMIT 5

The innermost SELECT is complete before rows are numbered: it may group, have window functions
of its own, and return several rows for one.
"""

from __future__ import annotations

from sqlglot import exp

from pgstream.sql.levels import qualified
from pgstream.sql.parse import Query
from pgstream.sql.passes.build import Names, as_item, derived, everywhere, named_as
from pgstream.sql.walk import bare

OUTSIDE = ("with_", "order", "limit", "offset")


def distinct_on(query: Query) -> Query:
    return everywhere(query, _number)


def _number(select: exp.Select, names: Names) -> exp.Select:
    distinct = select.args.get("distinct")
    if distinct is None or distinct.args.get("on") is None:
        return select
    inner = qualified(select)
    items = inner.expressions
    values = [item.unalias() for item in items]
    keys = [_column(values, key) for key in inner.args["distinct"].args["on"].expressions]
    order = inner.args.get("order")
    ordered = order.expressions if order else []
    orders = [_column(values, one.this) for one in ordered]
    outer = exp.Select()
    for clause in OUTSIDE:
        outer.set(clause, inner.args.get(clause))
        inner.set(clause, None)
    inner.set("distinct", None)
    inner.set("expressions", [as_item(value, _name(i)) for i, value in enumerate(values)])
    below, above, number = names.new("p"), names.new("q"), names.new("n")

    window = exp.Window(
        this=exp.Anonymous(this="row_number"),
        partition_by=[_read(below, index) for index in dict.fromkeys(keys)],
        over="OVER",
    )
    rest = [_moved(o, below, at) for o, at in zip(ordered, orders, strict=True) if at not in keys]
    if rest:
        window.set("order", exp.Order(expressions=rest))
    passed: list[exp.Expr] = [_read(below, index) for index in range(len(values))]
    middle = exp.Select(expressions=[*passed, as_item(window, number)])
    middle.set("from_", derived(inner, below))

    outer.set("expressions", [named_as(item, _read(above, i)) for i, item in enumerate(items)])
    outer.set("from_", derived(middle, above))
    first = exp.EQ(this=exp.column(number, table=above), expression=exp.Literal.number(1))
    outer.set("where", exp.Where(this=exp.Paren(this=first)))
    if order:
        moved = [_moved(o, above, at) for o, at in zip(ordered, orders, strict=True)]
        outer.set("order", exp.Order(expressions=moved))
    return outer


def _column(values: list[exp.Expr], wanted: exp.Expr) -> int:
    """The index of an expression among the values; it becomes the last one if it is new."""
    for index, value in enumerate(values):
        if bare(value) == bare(wanted):
            return index
    values.append(wanted)
    return len(values) - 1


def _name(index: int) -> str:
    return f"__pgs_c{index}"


def _read(alias: str, index: int) -> exp.Column:
    return exp.column(_name(index), table=alias)


def _moved(ordered: exp.Ordered, alias: str, index: int) -> exp.Ordered:
    copy = ordered.copy()
    copy.set("this", _read(alias, index))
    return copy
