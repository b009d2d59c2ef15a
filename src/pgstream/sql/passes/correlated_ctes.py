"""correlated_ctes: a CTE that reads the query around its own is written where it is read.

Before: SELECT t.id, (WITH c AS (SELECT u.id FROM u WHERE u.t_id = t.id) SELECT max(c.id) FROM c)
After:  SELECT t.id, (SELECT max(c.id) FROM (SELECT u.id FROM u WHERE u.t_id = t.id) c)

It has the same rows each time it is read. One that reads itself stays.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from pgstream.sql.parse import Query
from pgstream.sql.passes.build import Names
from pgstream.sql.scope import aliases, free_columns

RELATIONS = (exp.Table, exp.Subquery, exp.UDTF)


def correlated_ctes(query: Query) -> Query:
    tree: Query = query.copy()
    names = Names(tree)
    while (cte := next(filter(_can_move, tree.find_all(exp.CTE)), None)) is not None:
        _inline(cte, names)  # one that read it may be correlated by that
    return tree


def _can_move(cte: exp.CTE) -> bool:
    if not free_columns(cte.this):
        return False
    return not any(_meant_by(table) is cte for table in cte.this.find_all(exp.Table))


def _meant_by(table: exp.Table) -> exp.Expr | None:
    """The CTE that the table's name means: of all that it sees, the nearest."""
    if table.args.get("db") or not isinstance(table.this, exp.Identifier):
        return None
    seen = (cte for visible in _visible_from(table) for cte in visible)
    return next((cte for cte in seen if cte.alias == table.name), None)


def _visible_from(table: exp.Table) -> Iterator[list[exp.Expr]]:
    """The CTEs of each query around, the nearest first. In WITH one sees those before it; all, if
    it is recursive."""
    node: exp.Expr = table
    while (parent := node.parent) is not None:
        if isinstance(parent, exp.With):
            ctes: list[exp.Expr] = parent.expressions
            yield ctes if parent.args.get("recursive") else ctes[: ctes.index(node)]
            assert parent.parent is not None
            parent = parent.parent
        elif clause := parent.args.get("with_"):
            yield clause.expressions
        node = parent


def _inline(cte: exp.CTE, names: Names) -> None:
    clause = cte.parent
    assert clause is not None
    assert clause.parent is not None
    readers = [t for t in clause.parent.find_all(exp.Table) if _meant_by(t) is cte]
    for reader in readers:
        reader.replace(_as_subquery(cte, reader, names))
    if len(clause.expressions) == 1:
        clause.parent.set("with_", None)
    else:
        cte.pop()


def _as_subquery(cte: exp.CTE, reader: exp.Table, names: Names) -> exp.Subquery:
    given, own = (_column_names(node) for node in (reader, cte))
    alias = exp.TableAlias(
        this=exp.to_identifier(reader.alias_or_name, quoted=True),
        columns=[name.copy() for name in (*given, *own[len(given) :])],
    )
    query = _renamed(cte.this, _known_at(reader), names)
    return exp.Subquery(this=query, alias=alias, joins=reader.args.get("joins"))


def _column_names(node: exp.Expr) -> list[exp.Identifier]:
    alias = node.args.get("alias")
    return list(alias.args.get("columns") or ()) if alias else []


def _known_at(reader: exp.Table) -> frozenset[str]:
    """The names of relations in all SELECTs around."""
    known: frozenset[str] = frozenset()
    select = reader.find_ancestor(exp.Select)
    while select is not None:
        known |= aliases(select)
        select = select.find_ancestor(exp.Select)
    return known


def _renamed(query: exp.Expr, known: frozenset[str], names: Names) -> exp.Expr:
    """A copy whose relations have names of their own."""
    made = query.copy()
    relations = [node for node in made.find_all(*RELATIONS) if node.alias_or_name in known]
    new: dict[str, exp.Identifier] = {}
    for name in sorted({node.alias_or_name for node in relations}):
        new[name] = exp.to_identifier(names.new(name), quoted=True)
    for node in relations:
        alias = node.args.get("alias") or exp.TableAlias()
        alias.set("this", new[node.alias_or_name].copy())
        node.set("alias", alias)
    for column in made.find_all(exp.Column):
        if column.table in new:
            column.set("table", new[column.table].copy())
    return made
