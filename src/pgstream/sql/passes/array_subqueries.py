"""array_subqueries: an array of a subquery's rows is an aggregate.

Before: ARRAY(SELECT u.x FROM u WHERE u.k = t.k ORDER BY u.y)
After:  COALESCE((SELECT array_agg(u.x ORDER BY u.y) AS a FROM u WHERE u.k = t.k), '{}')

Rows that are not simply those of FROM and WHERE are read in their order, which `sorted_input`
gives to the aggregate:

Before: ARRAY(SELECT DISTINCT u.x FROM u ORDER BY u.x DESC LIMIT 3)
After:  COALESCE((SELECT array_agg(q.c0) AS a
                    FROM (SELECT DISTINCT u.x FROM u ORDER BY u.x DESC LIMIT 3) q(c0)), '{}')

COALESCE stands outside: as a subquery, `= ANY` would read its rows.
"""

from __future__ import annotations

from sqlglot import exp

from pgstream.sql.cut import is_grouped
from pgstream.sql.parse import Query
from pgstream.sql.passes.build import Names, derived
from pgstream.sql.scope import aliases

ITEM, ARRAY = "__pgs_c0", "__pgs_array"
PLAIN = frozenset(("expressions", "from_", "joins", "laterals", "where", "order"))


def array_subqueries(query: Query) -> Query:
    tree: Query = query.copy()
    names = Names(tree)
    written: dict[exp.Expr, str] = {}
    for node in reversed(list(tree.find_all(exp.Anonymous))):
        rows = rows_of_array(node)
        if rows is not None:
            # The same array has the same text everywhere, as GROUP BY needs it.
            alias = written.get(node) or names.new("a")
            written[node.copy()] = alias
            node.replace(_array(rows, alias))
    return tree


def rows_of_array(node: exp.Expr) -> Query | None:
    """The query in ARRAY(SELECT …)."""
    if not isinstance(node, exp.Anonymous) or node.this != "ARRAY":
        return None
    (rows, *_) = node.expressions or (None,)
    return rows if isinstance(rows, exp.Select | exp.SetOperation) else None


def _array(rows: Query, alias: str) -> exp.Coalesce:
    collected = _collected(rows) if _is_plain(rows) else _read(rows, alias)
    return exp.Coalesce(this=exp.Subquery(this=collected), expressions=[exp.Literal.string("{}")])


def _is_plain(rows: Query) -> bool:
    """Whether an aggregate in the place of the item collects the same rows: it is one of the
    subquery's own level if it reads a column of it, or none at all."""
    if not isinstance(rows, exp.Select) or is_grouped(rows) or rows.find(exp.Window):
        return False
    if any(value for clause, value in rows.args.items() if clause not in PLAIN):
        return False
    order = rows.args.get("order")
    values = [*rows.expressions, *(order.expressions if order else ())]
    if any(value.find(exp.Query) for value in values):
        return False
    read = {column.table for column in rows.expressions[0].find_all(exp.Column)}
    return not read or bool(read & aliases(rows))


def _collected(rows: Query) -> Query:
    made: Query = rows.copy()
    value, order = made.expressions[0].unalias(), made.args.get("order")
    if order is not None:
        value = exp.Order(this=value, expressions=order.expressions)
    made.set("order", None)
    made.set("expressions", [_aggregate(value)])
    return made


def _read(rows: Query, alias: str) -> exp.Select:
    made = exp.Select(expressions=[_aggregate(exp.column(ITEM, table=alias))])
    made.set("from_", derived(rows.copy(), alias, [ITEM]))
    return made


def _aggregate(value: exp.Expr) -> exp.Expr:
    call = exp.Anonymous(this="array_agg", expressions=[value])
    return exp.Alias(this=call, alias=exp.to_identifier(ARRAY))
