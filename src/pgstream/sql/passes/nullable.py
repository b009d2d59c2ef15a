"""Which items of FROM may lack a row, because an outer join keeps those of others."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pgstream.sql.walk import is_join


def nullable(select: exp.Select) -> frozenset[str]:
    """Their aliases."""
    clause = select.args.get("from_")
    if clause is None:
        return frozenset()
    return _joins(clause.this, select.args.get("joins") or ())[1]


def items_of(select: exp.Select) -> dict[str, exp.Expr]:
    """The items of FROM by their aliases, also those of joins in parentheses."""
    found: dict[str, exp.Expr] = {}
    clause = select.args.get("from_")
    joins = (join.this for join in select.args.get("joins") or ())
    waiting: list[exp.Expr] = [*([clause.this] if clause else ()), *joins]
    while waiting:
        item = waiting.pop()
        waiting += [join.this for join in item.args.get("joins") or ()]
        if is_join(item) and not item.alias:
            waiting.append(item.this)
        else:
            found[item.alias_or_name] = item
    return found


Names = frozenset[str]


def _joins(first: exp.Expr, joins: Sequence[exp.Join]) -> tuple[Names, Names]:
    """All aliases of joins, one after the other, and those of items that may lack a row."""
    names, lacking = _item(first)
    for join in joins:
        more, lacking_more = _joins(join.this, join.this.args.get("joins") or ())
        side = join.side.upper()
        lacking |= lacking_more
        if side in ("LEFT", "FULL"):
            lacking |= more
        if side in ("RIGHT", "FULL"):
            lacking |= names
        names |= more
    return names, lacking


def _item(item: exp.Expr) -> tuple[Names, Names]:
    if is_join(item) and not item.alias:
        return _joins(item.this, item.this.args.get("joins") or ())
    return frozenset((item.alias_or_name,)), frozenset()
