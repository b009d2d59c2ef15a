"""read_values: VALUES that reads columns becomes SELECTs.

Before: FROM a, LATERAL (VALUES (a.x), (a.y)) v(c)
After:  FROM a, LATERAL (SELECT a.x AS column1 UNION ALL SELECT a.y AS column1) v(c)
"""

from __future__ import annotations

from sqlglot import exp

from pgstream.sql.parse import Query


def read_values(query: Query) -> Query:
    tree: Query = query.copy()
    for values in reversed(list(tree.find_all(exp.Values))):
        lateral = values.find_ancestor(exp.Lateral, exp.Query)
        alias = values.args.get("alias")
        if values.find(exp.Column, exp.Query):
            made = _selects(values)
            values.replace(exp.Subquery(this=made, alias=alias) if alias else made)
        elif isinstance(lateral, exp.Lateral):  # the word says nothing
            lateral.replace(exp.Values(**{**values.args, "alias": lateral.args["alias"]}))
    return tree


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
