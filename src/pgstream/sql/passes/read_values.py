"""read_values: VALUES that reads columns becomes SELECTs.

Before: FROM a, LATERAL (VALUES (a.x), (a.y)) v(c)
After:  FROM a, LATERAL (SELECT a.x AS column1 UNION ALL SELECT a.y AS column1) v(c)

Before: ARRAY(VALUES (a.x), (a.y))
After:  ARRAY[a.x, a.y]
"""

from __future__ import annotations

from sqlglot import exp

from pgstream.sql.parse import Query
from pgstream.sql.read.listed import array_of_values


def read_values(query: Query) -> Query:
    tree: Query = query.copy()
    for call in list(tree.find_all(exp.Anonymous)):
        if (listed := array_of_values(call)) is not None:
            call.replace(exp.Array(expressions=[row.expressions[0] for row in listed.expressions]))
    for values in reversed(list(tree.find_all(exp.Values))):
        lateral = values.parent.parent if isinstance(values.parent, exp.Subquery) else None
        if any(row.find(exp.Column, exp.Query) for row in values.expressions):
            made = _selects(values)
            is_item = not isinstance(lateral, exp.Lateral)
            values.replace(exp.Subquery(this=made, **_hung_on(values)) if is_item else made)
        elif isinstance(lateral, exp.Lateral):  # the word says nothing
            lateral.replace(exp.Values(expressions=values.expressions, **_hung_on(lateral)))
    return tree


def _hung_on(item: exp.Expr) -> dict[str, object]:
    """The alias of a FROM item, and the joins in parentheses of which it is the first."""
    return {part: item.args.get(part) for part in ("alias", "joins")}


def _selects(values: exp.Values) -> Query:
    made: Query | None = None
    for row in values.expressions:
        items = [
            exp.alias_(cell.copy(), f"column{i + 1}") for i, cell in enumerate(row.expressions)
        ]
        one = exp.Select(expressions=items)
        made = one if made is None else exp.Union(this=made, expression=one, distinct=False)
    assert made is not None
    return made
