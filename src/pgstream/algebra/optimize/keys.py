"""keys: which columns tell the rows of a relation apart.

A key is a set of columns in which no two rows agree, NULLs being equal to each other. So every
row has weight 1; the empty key means that there is one row at most.

    Scan        the unique keys of the table, which are facts of the catalog
    σ, Window   those of the input; a semi-join has those of its left side
    π           those whose columns it takes over as they are
    γ           the grouping columns
    A ⋈ B       a key of A with one of B; that of A alone, if B has a key among the equalities
    A ⟕ B       the same; where a row of A has no partner, it is there once
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Protocol

from pgstream.algebra.operators.aggregate import Aggregate
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Join, Pairing
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.one_row import OneRow
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.scan import Field, Scan, Source
from pgstream.algebra.operators.semi_join import SemiJoin
from pgstream.algebra.operators.shared import Shared
from pgstream.algebra.operators.window import Window

Facts = frozenset[str]
"""What is known of tables, in words."""
MANY = 6


class Constraints(Protocol):
    """What the catalog knows of tables."""

    def unique_keys(self, source: Source) -> Iterable[frozenset[str]]:
        """The sets of columns, none of them NULL, in which no two rows agree."""

    def not_null(self, source: Source) -> Iterable[str]:
        """The columns that are never NULL."""


class Nothing:
    """Of a table nothing is known."""

    def unique_keys(self, source: Source) -> Iterable[frozenset[str]]:
        return ()

    def not_null(self, source: Source) -> Iterable[str]:
        return ()


@dataclass(frozen=True)
class Key:
    columns: frozenset[int]
    facts: Facts = field(default=frozenset())
    """What it relies on."""

    def beside(self, other: Key, width: int) -> Key:
        shifted = frozenset(width + column for column in other.columns)
        return Key(self.columns | shifted, self.facts | other.facts)


def is_one_row(node: Node) -> bool:
    """Whether it gives one row at most, whatever the tables hold."""
    return any(not key.columns for key in keys_of(node, Nothing()))


def keys_of(node: Node, known: Constraints) -> list[Key]:
    """Some keys, the shortest first: a relation may have very many."""
    found = dict.fromkeys(_keys_of(node, known))
    return sorted(found, key=lambda key: (len(key.columns), len(key.facts)))[:MANY]


def _keys_of(node: Node, known: Constraints) -> Iterator[Key]:
    match node:
        case Scan():
            yield from _of_table(node, known)
        case OneRow():
            yield Key(frozenset())
        case Filter(inner) | Shared(inner) | Window(inner) | SemiJoin(inner):
            yield from keys_of(inner, known)
        case Project(inner):
            yield from _shown(node, keys_of(inner, known))
        case Aggregate(_, keys):
            yield Key(frozenset(range(len(keys))))
        case Join() | OuterJoin(keeps_right=False):
            yield from _joined(node, known)


def _of_table(scan: Scan, known: Constraints) -> Iterator[Key]:
    if scan.source.relid < 0:
        return
    columns = [_column(each) for each in scan.fields]
    for names in known.unique_keys(scan.source):
        if names <= set(columns):
            listed = ", ".join(sorted(names))
            fact = f"{scan.source} ({listed}) is unique"
            yield Key(frozenset(map(columns.index, names)), frozenset((fact,)))


def _column(field: Field) -> str | None:
    """The column that the field is, or has the same values as."""
    return field.name if field.sql is None else field.equal_to


def _shown(node: Project, keys: Iterable[Key]) -> Iterator[Key]:
    shown = {origin.column: i for i in range(len(node.columns)) for origin in node.origins_of(i)}
    for key in keys:
        if key.columns <= set(shown):
            yield Key(frozenset(shown[column] for column in key.columns), key.facts)


def _joined(node: Pairing, known: Constraints) -> Iterator[Key]:
    left, right = keys_of(node.left, known), keys_of(node.right, known)
    width = len(node.left.columns)
    yield from (
        Key(mine.columns, mine.facts | theirs.facts)
        for mine, theirs in product(left, right)
        if theirs.columns <= set(node.right_keys)
    )
    if isinstance(node, Join):
        yield from (
            Key(frozenset(width + column for column in theirs.columns), mine.facts | theirs.facts)
            for mine, theirs in product(left, right)
            if mine.columns <= set(node.left_keys)
        )
    yield from (mine.beside(theirs, width) for mine, theirs in product(left, right))
