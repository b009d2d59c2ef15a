"""Pieces with which the rewrites build their SELECTs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from pgstream.sql.parse import Query

PREFIX = "__pgs_"


class Names:
    """Names that the query does not use yet."""

    def __init__(self, query: exp.Expr) -> None:
        self.taken = {node.name for node in query.find_all(exp.Identifier)}

    def new(self, word: str) -> str:
        name, number = PREFIX + word, 0
        while name in self.taken:
            number += 1
            name = f"{PREFIX}{word}_{number}"
        self.taken.add(name)
        return name


def everywhere(query: Query, rewrite: Callable[[exp.Select, Names], exp.Select]) -> Query:
    """The query with each SELECT in it rewritten, the innermost first."""
    tree: Query = query.copy()
    names = Names(tree)
    for select in reversed(list(tree.find_all(exp.Select))):
        made = rewrite(select, names)
        if made is select:
            continue
        if select is tree:
            tree = made
        else:
            select.replace(made)
    return tree


def derived(rows: exp.Query, alias: str, columns: Sequence[str] = ()) -> exp.From:
    """FROM (rows) alias(columns)."""
    named = exp.TableAlias(
        this=exp.to_identifier(alias), columns=[exp.to_identifier(name) for name in columns]
    )
    return exp.From(this=exp.Subquery(this=rows, alias=named))


def named_as(item: exp.Expr, value: exp.Expr) -> exp.Expr:
    """The value under the SELECT item's output name."""
    if isinstance(item, exp.Alias):
        return exp.Alias(this=value, alias=item.args["alias"].copy())
    if isinstance(item, exp.Column) and isinstance(item.this, exp.Identifier):
        return exp.Alias(this=value, alias=item.this.copy())
    return value


def as_item(value: exp.Expr, name: str) -> exp.Alias:
    """value AS name. A whole row is written by its table's name: t.* would be its columns."""
    if isinstance(value, exp.Column) and isinstance(value.this, exp.Star):
        value = exp.Column(this=value.args["table"].copy())
    return exp.Alias(this=value.copy(), alias=exp.to_identifier(name))


def all_of(conditions: Sequence[exp.Expr]) -> exp.Expr:
    return exp.and_(*conditions, copy=True) if len(conditions) > 1 else conditions[0].copy()


def replaced(node: exp.Expr, step: Callable[[exp.Expr], exp.Expr | None]) -> exp.Expr:
    """A copy in which `step` gives the nodes to replace; what it replaces is not entered."""

    def one(part: exp.Expr) -> exp.Expr:
        found = step(part)
        return part if found is None else found

    return node.copy().transform(one, copy=False)
