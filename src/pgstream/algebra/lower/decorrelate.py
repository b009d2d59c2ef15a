"""decorrelated: a subquery without its equalities with the query around it, and those.

SELECT … FROM b WHERE b.k = a.k AND b.v > 0    →    SELECT … FROM b WHERE b.v > 0,  (b.k, a.k)

Equalities go through GROUP BY, whose groups are then those of each value of b.k, and out of a
subquery in FROM, which then shows b.k. An aggregate without GROUP BY has a row where there is
nothing to aggregate; LIMIT and window functions see the rows of one value only: these stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sqlglot import exp

from pgstream.algebra.lower.grouped import has_aggregates
from pgstream.sql.scope import aliases, free_columns
from pgstream.sql.walk import and_parts, bare, is_join, unwrapped

ON_ITS_OWN = ("limit", "offset", "with_")
KEY = "__pgs_key_"
WRAPPED = "q"


class Pair(NamedTuple):
    """An equality between the subquery and the query around it."""

    inner: exp.Expr
    outer: exp.Expr


class Decorrelated(NamedTuple):
    """What reads nothing from outside, and the conditions that did."""

    inner: exp.Select
    pairs: list[Pair]
    others: list[exp.Expr]
    """Conditions over both that are no equalities."""


def decorrelated(query: exp.Expr, tests: bool) -> Decorrelated | None:
    """The subquery without what it reads from the query around it; None if that would change its
    meaning. `tests`: only whether rows are there matters."""
    query = lifted(unwrapped(query.copy()))
    if not isinstance(query, exp.Select) or not is_plain(query, tests):
        if not tests:
            return None
        if isinstance(query, exp.Query) and not free_columns(query):
            return Decorrelated(in_from(query), [], [])
        return _of_groups(query)
    found = _taken_out(query)
    return None if found is None else Decorrelated(query, *found)


def correlated_rows(query: exp.Expr) -> tuple[exp.Select, list[Pair]] | None:
    """The rows of a subquery for all values of what it reads from outside by equalities, grouped
    by these if it is grouped; None if it reads more, or the rows of one value are not just some
    of all."""
    query = lifted(unwrapped(query.copy()))
    if not isinstance(query, exp.Select) or not (is_plain(query, True) or is_grouped(query)):
        return None
    found = _taken_out(query)
    if found is None or found[1]:
        return None
    _group_by(query, [pair.inner for pair in found[0]])
    return query, found[0]


def _group_by(query: exp.Select, keys: Sequence[exp.Expr]) -> None:
    group = query.args.get("group")
    if group is not None:
        known = [bare(part) for part in group.expressions]
        group.set("expressions", [*group.expressions, *(k.copy() for k in keys if k not in known)])


def with_keys(query: exp.Select, pairs: Sequence[Pair], names: Sequence[str]) -> exp.Select:
    """The query with the inner sides of the pairs as its last columns."""
    for pair, name in zip(pairs, names, strict=True):
        query.append("expressions", exp.alias_(pair.inner.copy(), name))
    return query


def lifted(query: exp.Expr) -> exp.Expr:
    """SELECT … FROM (SELECT … FROM b WHERE b.k = a.k) q   →
    SELECT … FROM (SELECT …, b.k AS key FROM b) q WHERE q.key = a.k."""
    if not isinstance(query, exp.Select):
        return query
    number = 0
    for item in _always_joined(query):
        found = correlated_rows(item.this) if free_columns(item.this) else None
        if found is not None:
            rows, pairs = found
            names = [f"{KEY}{number + i}" for i in range(len(pairs))]
            number += len(pairs)
            _extend_alias(item, rows, names)
            item.set("this", with_keys(rows, pairs, names))
            for name, pair in zip(names, pairs, strict=True):
                column = exp.column(name, table=item.alias)
                query.where(exp.EQ(this=column, expression=pair.outer.copy()), copy=False)
    return query


def _always_joined(query: exp.Select) -> Iterator[exp.Subquery]:
    """The subqueries in FROM whose rows no outer join pads."""
    clause, joins = query.args.get("from_"), query.args.get("joins") or []
    if clause is None or any(join.side.upper() in ("RIGHT", "FULL") for join in joins):
        return
    for item in (clause.this, *(join.this for join in joins if not join.side)):
        if isinstance(item, exp.Subquery) and not is_join(item) and item.alias:
            yield item


def _extend_alias(item: exp.Subquery, rows: exp.Select, names: Sequence[str]) -> None:
    """The alias's list of columns, if it has one, with these at its end."""
    alias = item.args["alias"]
    given = alias.args.get("columns")
    if given:
        unnamed = [one.alias_or_name for one in rows.expressions[len(given) :]]
        alias.set("columns", [*given, *map(exp.to_identifier, (*unnamed, *names))])


def _of_groups(query: exp.Expr) -> Decorrelated | None:
    found = correlated_rows(query)
    if found is None:
        return None
    rows, pairs = found
    width = len(rows.expressions)
    whole = in_from(with_keys(rows, pairs, [f"{KEY}{i}" for i in range(len(pairs))]))
    keys = [item.unalias() for item in whole.expressions[width:]]
    whole.set("expressions", whole.expressions[:width])
    outer = [pair.outer for pair in pairs]
    return Decorrelated(whole, list(map(Pair, keys, outer)), [])


def _taken_out(query: exp.Select) -> tuple[list[Pair], list[exp.Expr]] | None:
    """The conditions of WHERE that read the query around, which the query then has no more; None
    if it reads it elsewhere, or its rows belong together."""
    where, own = query.args.get("where"), aliases(query)
    pairs: list[Pair] = []
    kept: list[exp.Expr] = []
    others: list[exp.Expr] = []
    for part in and_parts(where.this) if where else []:
        if not reaches_out(part, own):
            kept.append(part)
        elif (pair := paired(part, own)) is not None:
            pairs.append(pair)
        else:
            others.append(part)
    query.set("where", exp.Where(this=exp.and_(*kept, dialect="postgres")) if kept else None)
    if reaches_out(query, own) or ((pairs or others) and query.find(exp.Window)):
        return None
    return pairs, others


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
    own = (*ON_ITS_OWN, "group", "having")
    return aggregates != tests and not any(query.args.get(part) for part in own)


def is_grouped(query: exp.Select) -> bool:
    """Whether it has a row for each group of rows, and none without rows."""
    group = query.args.get("group")
    keys = group.expressions if group is not None else []
    has_keys = bool(keys) and not any(isinstance(bare(part), exp.Tuple) for part in keys)
    return has_keys and not any(query.args.get(part) for part in ON_ITS_OWN)


def in_from(query: exp.Query) -> exp.Select:
    """A subquery that reads nothing from outside is a relation like any other."""
    names = [f"c{i}" for i, _ in enumerate(query.selects)]
    columns = [exp.to_identifier(name) for name in names]
    alias = exp.TableAlias(this=exp.to_identifier(WRAPPED), columns=columns)
    items = [exp.column(name, table=WRAPPED) for name in names]
    return exp.select(*items).from_(exp.Subquery(this=query, alias=alias))


def is_quantified(node: exp.Expr) -> bool:
    """`= ANY (array)` is no equality."""
    return isinstance(node, exp.Any | exp.All)


def reaches_out(node: exp.Expr, own: frozenset[str]) -> bool:
    """Whether the node reads columns of other tables than these and those in it."""
    return any(column.table not in own for column in free_columns(node))
