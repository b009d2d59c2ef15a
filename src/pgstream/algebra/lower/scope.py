"""What names mean inside one SELECT: its tables, and the domain of a correlated subquery."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

from pgstream.algebra.expressions import Expression
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.project import pick
from pgstream.algebra.operators.scan import Scan


@dataclass(frozen=True)
class Table:
    """A FROM item: its alias, where its columns start, and their names."""

    alias: str
    offset: int
    names: tuple[str, ...]
    scan: Scan | None
    primary_key: tuple[str, ...] = ()
    padded: bool = False
    """An outer join may put NULLs in the place of its columns: what PostgreSQL computed while
    reading it would be NULL too, which the expression over NULLs need not be."""


@dataclass(frozen=True)
class Merged:
    """A column that USING makes of one on each side of a join; `alias` is that of the join."""

    name: str
    value: Expression
    alias: str = ""


class Registry(Protocol):
    def register(self, table: Table, tree: Node) -> None: ...


@dataclass(frozen=True)
class Domain:
    """The values for which a correlated subquery is computed: one row each.

    `names` are the columns, alias and name, in the order of the tree's columns; an alias's
    columns stand together. `indexes` are those of the relation they were taken from.
    """

    tree: Node
    names: tuple[tuple[str, str], ...]
    indexes: tuple[int, ...]

    def register(self, registry: Registry) -> None:
        offset = 0
        for alias, group in groupby(self.names, key=lambda name: name[0]):
            columns = tuple(column for _, column in group)
            part = pick(self.tree, tuple(range(offset, offset + len(columns))))
            registry.register(Table(alias, offset, columns, None), part)
            offset += len(columns)
