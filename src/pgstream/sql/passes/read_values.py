"""read_values: VALUES that reads columns becomes SELECTs.

Before: FROM a, LATERAL (VALUES (a.x), (a.y)) v(c)
After:  FROM a, LATERAL (SELECT a.x AS column1 UNION ALL SELECT a.y AS column1) v(c)

Before: a.x IN (VALUES (0), (a.y))
After:  a.x IN (SELECT 0 AS column1 UNION ALL SELECT a.y AS column1)

So does VALUES with ORDER BY or LIMIT.
"""

from __future__ import annotations

from sqlglot import exp

from pgstream.sql.parse import Query

QUANTIFIERS: dict[str, type[exp.Expr]] = {"ANY": exp.Any, "SOME": exp.Any, "ALL": exp.All}
CLAUSES = ("order", "limit", "offset")


def read_values(query: Query) -> Query:
    tree: Query = query.copy()
    for values in reversed(list(tree.find_all(exp.Values))):
        if values.find(exp.Column, exp.Query) or _clauses(values):
            _replace(values, _selects(values))
    return tree


def _clauses(values: exp.Values) -> dict[str, exp.Expr]:
    return {name: values.args[name] for name in CLAUSES if values.args.get(name)}


def _selects(values: exp.Values) -> Query:
    made: Query | None = None
    for row in values.expressions:
        cells = row.expressions if isinstance(row, exp.Tuple) else [row]
        items = [exp.alias_(cell.copy(), f"column{i + 1}") for i, cell in enumerate(cells)]
        one = exp.Select(expressions=items)
        made = one if made is None else exp.Union(this=made, expression=one, distinct=False)
    assert made is not None
    for name, clause in _clauses(values).items():
        made.set(name, clause.copy())
    for column in made.args["order"].find_all(exp.Column) if made.args.get("order") else ():
        column.set("table", None)  # "*VALUES*"
    return made


def _replace(values: exp.Values, made: Query) -> None:
    around = values.parent
    if isinstance(around, exp.In):
        around.set("expressions", [])
        around.set("query", exp.Subquery(this=made))
    elif isinstance(around, exp.Anonymous):
        quantifier = QUANTIFIERS.get(around.name.upper())
        if quantifier is not None:  # EXISTS and ARRAY are left to PostgreSQL
            around.replace(quantifier(this=exp.Subquery(this=made)))
    elif (select := _term(values)) is not None:
        select.replace(exp.Subquery(this=made))
    elif values.args.get("alias"):
        values.replace(exp.Subquery(this=made, alias=values.args["alias"]))
    else:
        values.replace(made)


def _term(values: exp.Values) -> exp.Select | None:
    """The SELECT * FROM (VALUES …) as which the parser reads a VALUES beside UNION."""
    select = values.parent_select
    if not isinstance(values.parent, exp.From) or not isinstance(select, exp.Select):
        return None
    return select if any(isinstance(item, exp.Star) for item in select.expressions) else None
