"""decorrelated: a subquery without its equalities with the query around it, and those.

SELECT … FROM b WHERE b.k = a.k AND b.v > 0    →    SELECT … FROM b WHERE b.v > 0,  (b.k, a.k)
"""

from __future__ import annotations

from typing import NamedTuple

from sqlglot import exp

from pgstream.algebra.lower.grouped import has_aggregates
from pgstream.sql.scope import aliases, free_columns
from pgstream.sql.walk import and_parts, bare, unwrapped

ON_ITS_OWN = ("group", "having", "limit", "offset", "with_")


class Pair(NamedTuple):
    """An equality between the subquery and the query around it."""

    inner: exp.Expr
    outer: exp.Expr


def decorrelated(query: exp.Expr, tests: bool) -> tuple[exp.Select, list[Pair]] | None:
    """The subquery without its equalities with the query around it, and those; None if
    that would change its meaning. `tests`: only whether rows are there matters."""
    query = unwrapped(query.copy())
    if not isinstance(query, exp.Select) or not is_plain(query, tests):
        if tests and isinstance(query, exp.Query) and not free_columns(query):
            return in_from(query), []
        return None
    where = query.args.get("where")
    own = aliases(query)
    pairs: list[Pair] = []
    kept: list[exp.Expr] = []
    for part in and_parts(where.this) if where else []:
        if not reaches_out(part, own):
            kept.append(part)
        elif (pair := paired(part, own)) is not None:
            pairs.append(pair)
        else:
            return None
    query.set("where", exp.Where(this=exp.and_(*kept, dialect="postgres")) if kept else None)
    if reaches_out(query, own) or (pairs and query.find(exp.Window)):
        return None
    return query, pairs


def paired(part: exp.Expr, own: frozenset[str]) -> Pair | None:
    part = bare(part)
    if isinstance(part, exp.EQ):
        left, right = bare(part.this), bare(part.args["expression"])
        for inner, outer in ((left, right), (right, left)):
            reads_own = any(column.table in own for column in outer.find_all(exp.Column))
            is_value = not is_quantified(outer) and outer.find(exp.Query) is None
            if not reaches_out(inner, own) and not reads_own and is_value:
                return Pair(inner, outer)
    return None


def is_plain(query: exp.Select, tests: bool) -> bool:
    """Whether the rows, or the one row of aggregates, are those of its FROM and WHERE."""
    aggregates = any(has_aggregates(item) for item in query.expressions)
    return aggregates != tests and not any(query.args.get(part) for part in ON_ITS_OWN)


def in_from(query: exp.Query) -> exp.Select:
    """A subquery that reads nothing from outside is a relation like any other."""
    names = [f"c{i}" for i, _ in enumerate(query.selects)]
    columns = [exp.to_identifier(name) for name in names]
    alias = exp.TableAlias(this=exp.to_identifier("q"), columns=columns)
    items = [exp.column(name, table="q") for name in names]
    return exp.select(*items).from_(exp.Subquery(this=query, alias=alias))


def is_quantified(node: exp.Expr) -> bool:
    """`= ANY (array)` is no equality."""
    return isinstance(node, exp.Any | exp.All)


def reaches_out(node: exp.Expr, own: frozenset[str]) -> bool:
    """Whether the node reads columns of other tables than these and those in it."""
    return any(column.table not in own for column in free_columns(node))
