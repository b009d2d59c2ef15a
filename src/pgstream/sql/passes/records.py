"""Who reads a column that is a record in PostgreSQL, and something else in a stream table.

    ORDER BY o    is ORDER BY o, a, b, if the record is made of what o is now, and of a and b
    SELECT o      in FROM or WITH passes it on

Everything else would show the difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from pgstream.errors import UnsupportedConstruct
from pgstream.sql.levels import only_relation


@dataclass(frozen=True)
class Record:
    """A column of a relation, among the relation's columns."""

    columns: Sequence[str]
    name: str
    by: Sequence[str] | None
    """The columns that are sorted by after it; None if it cannot be sorted by."""
    refusal: UnsupportedConstruct


def columns_of(relation: exp.Expr, rows: exp.Expr) -> list[str]:
    """The names of the columns of a CTE or a subquery in FROM."""
    while isinstance(rows, exp.SetOperation | exp.Subquery):
        rows = rows.this
    return renamed(relation, [item.alias_or_name for item in rows.expressions])


def follow(relation: exp.Expr, record: Record) -> None:
    """Rewrites, in place, what reads the record of a CTE or of a subquery in FROM."""
    for item in _items(relation):
        select = item.find_ancestor(exp.Select)
        assert select is not None
        here = _seen(item, record) if isinstance(item, exp.Table) else record
        for column in _uses(select, item.alias_or_name, here.name):
            _rewrite(column, select, here)


def _items(relation: exp.Expr) -> Iterator[exp.Expr]:
    """The items of FROM that are the subquery, or read the CTE, other than its own term."""
    if not isinstance(relation, exp.CTE):
        yield relation
        return
    owner = relation.parent.parent if relation.parent else None
    for table in list(owner.find_all(exp.Table)) if owner else ():
        if not table.db and table.name == relation.alias and not _is_inside(table, relation):
            yield table


def _is_inside(node: exp.Expr, relation: exp.Expr) -> bool:
    parent = node.parent
    while parent is not None and parent is not relation:
        parent = parent.parent
    return parent is relation


def _seen(item: exp.Expr, record: Record) -> Record:
    """The record under the names that the item gives to the columns."""
    shown = renamed(item, record.columns)
    names = dict(zip(record.columns, shown, strict=True))
    by = None if record.by is None else [names[name] for name in record.by]
    return replace(record, columns=shown, name=names[record.name], by=by)


def renamed(node: exp.Expr, names: Sequence[str]) -> list[str]:
    alias = node.args.get("alias")
    given = [column.name for column in (alias.args.get("columns") if alias else None) or ()]
    return [*given, *names[len(given) :]]


def _uses(select: exp.Select, alias: str, name: str) -> list[exp.Column]:
    only = only_relation(select)
    return [
        column
        for column in select.find_all(exp.Column)
        if column.name == name
        and (column.table or (only is not None and column.parent_select is select and only.name))
        == alias
    ]


def _rewrite(column: exp.Column, select: exp.Select, record: Record) -> None:
    place: exp.Expr = column
    while isinstance(place.parent, exp.Paren):
        place = place.parent
    if isinstance(place.parent, exp.Ordered) and record.by is not None:
        _sort(place.parent, column, record.by)
        return
    item = place.parent if isinstance(place.parent, exp.Alias) else place
    relation = _relation_of(select)
    if item.parent is not select or item.arg_key != "expressions" or relation is None:
        raise record.refusal
    follow(relation, _passed_on(relation, select, item, column.table, record))


def _sort(ordered: exp.Ordered, column: exp.Column, by: Sequence[str]) -> None:
    """Within a record NULLs are the largest values."""
    order, descending = ordered.parent, bool(ordered.args.get("desc"))
    assert order is not None
    more = []
    for name in by:
        key = exp.Column(this=exp.to_identifier(name, quoted=True), table=column.args.get("table"))
        more.append(exp.Ordered(this=key.copy(), desc=descending, nulls_first=descending))
    index = next(i for i, one in enumerate(order.expressions) if one is ordered) + 1
    order.set("expressions", [*order.expressions[:index], *more, *order.expressions[index:]])


def _relation_of(select: exp.Select) -> exp.Expr | None:
    """The CTE, or the item of FROM, that is the SELECT."""
    around = select.parent
    if isinstance(around, exp.Subquery) and isinstance(around.parent, exp.Lateral):
        around = around.parent
    in_from = isinstance(around, exp.Lateral | exp.Subquery) and around.alias
    return around if in_from or isinstance(around, exp.CTE) else None


def _passed_on(
    relation: exp.Expr, select: exp.Select, item: exp.Expr, table: str, record: Record
) -> Record:
    columns = columns_of(relation, select)
    values = [one.unalias() for one in select.expressions]
    index = next(i for i, one in enumerate(select.expressions) if one is item)

    def passed(name: str) -> str | None:
        found = (
            shown
            for shown, value in zip(columns, values, strict=True)
            if isinstance(value, exp.Column) and (value.name, value.table) == (name, table)
        )
        return next(found, None)

    by = [passed(name) for name in record.by or ()]
    known = None if record.by is None or None in by else [name for name in by if name]
    return replace(record, columns=columns, name=columns[index], by=known)
