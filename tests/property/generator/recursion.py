"""WITH RECURSIVE over what looks like edges: two columns of one type."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from generator.pieces import Expr, Relation, Scope

if TYPE_CHECKING:
    from generator.queries import Queries


def query(queries: Queries, scope: Scope) -> Relation | None:
    """The closure of a relation (UNION), or its paths up to a length (UNION ALL), and a
    query over it."""
    dice = queries.dice
    choices = [r for r in scope.relations if len(_nodes(r)) > 1 and r.rows <= 40]
    if not choices:
        return None
    relation = dice.choice(choices)
    nodes = _nodes(relation)
    at, to = dice.sample(nodes, 2)
    name = queries.alias("r")
    made = (_closure if dice.maybe(0.5) else _paths)(queries, relation, name, at, to)
    queries.budget -= 2
    queries.used["recursion"] += 1
    known = Relation(name, made.columns, made.rows)
    outer = queries.query_over(replace(scope, depth=min(scope.depth, 1)).reading(known))
    listed = ", ".join(column.sql for column in made.columns)
    return replace(outer, sql=f"WITH RECURSIVE {name}({listed}) AS ({made.sql}) {outer.sql}")


def _closure(queries: Queries, relation: Relation, name: str, at: Expr, to: Expr) -> Relation:
    """Who reaches whom. It ends, because there are finitely many pairs."""
    step = queries.alias("e")
    first = f"SELECT {at.sql}, {to.sql} FROM {relation.sql}{_start(queries, relation)}"
    joined = queries.dice.choice((
        f"{name} JOIN {relation.sql} AS {step} ON {step}.{at.sql} = {name}.n",
        f"{relation.sql} AS {step}, {name} WHERE {step}.{at.sql} = {name}.n",
    ))  # fmt: skip
    text = f"{first} UNION SELECT {name}.m, {step}.{to.sql} FROM {joined}"
    columns = (replace(at, sql="m"), replace(to, sql="n"))
    return Relation(text, columns, 60)


def _paths(queries: Queries, relation: Relation, name: str, at: Expr, to: Expr) -> Relation:
    """Paths, as often as there are ways; a counter ends it."""
    dice, step = queries.dice, queries.alias("e")
    word = dice.choice(("UNION ALL", "UNION ALL", "UNION ALL", "UNION"))
    first = (
        f"SELECT {at.sql}, {to.sql}, 1, {at.sql}::text FROM {relation.sql}"
        f"{_start(queries, relation)}"
    )
    again = (
        f"SELECT {step}.{at.sql}, {step}.{to.sql}, {name}.l + 1,"
        f" {name}.p || '/' || {step}.{at.sql}::text FROM {relation.sql} AS {step}"
        f" JOIN {name} ON {step}.{at.sql} = {name}.n WHERE {name}.l < {dice.randint(2, 3)}"
    )
    columns = (replace(at, sql="m"), replace(to, sql="n"), Expr("l", "int", 4),
               Expr("p", "text", 20))  # fmt: skip
    return Relation(f"{first} {word} {again}", columns, 60)


def _start(queries: Queries, relation: Relation) -> str:
    if queries.dice.maybe(0.4):
        return ""
    columns = tuple(column for column in relation.columns if not column.is_array)
    return f" WHERE {queries.expressions(columns).of('bool', 1).sql}"


def _nodes(relation: Relation) -> list[Expr]:
    return [c for c in relation.columns if c.type == "int" and c.fits]
