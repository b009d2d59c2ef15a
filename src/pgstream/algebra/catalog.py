"""What lowering asks PostgreSQL. The database room answers; the algebra only asks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from pgstream.algebra.operators.scan import UNKNOWN_PER_VALUE, Source
from pgstream.algebra.types import Type
from pgstream.sql.facts import Facts


class Frequency(NamedTuple):
    """How many rows are expected to have the same value of a column, and how many to have none."""

    per_value: float = UNKNOWN_PER_VALUE
    nulls: float = 0.0


@dataclass(frozen=True, slots=True)
class Relation:
    """A table a query reads: all its columns, in order, and those the query uses."""

    source: Source
    columns: tuple[tuple[str, Type], ...]
    used: frozenset[str]
    primary_key: frozenset[str] = frozenset()
    frequencies: Mapping[str, Frequency] = field(default_factory=dict)
    """Of the columns of which they are known."""


class Catalog(Facts, Protocol):
    def relation(self, schema: str, name: str) -> Relation:
        """The table of this name."""

    def unique_keys(self, source: Source) -> Iterable[frozenset[str]]:
        """The sets of columns, none of them NULL, in which no two rows of the table agree."""

    def not_null(self, source: Source) -> Iterable[str]:
        """The columns of the table that are never NULL."""

    def share(self, source: Source, condition: str) -> float:
        """The share of the table's rows that its statistics expect to pass a condition."""

    def type_of(self, sql: str, columns: Mapping[int, Type]) -> Type:
        """The type of an expression over columns `s.c<index>` of these types."""

    def operands(self, left: Type, right: Type) -> tuple[Type, Type]:
        """What PostgreSQL casts values of these types to, to find out whether they are equal."""

    def row_of(self, sql: str, columns: Mapping[int, Type]) -> tuple[tuple[str, Type], ...]:
        """The columns of a query over the table `__pgs_rows`, whose columns are c<index> of
        these types, and w."""

    def constant(self, sql: str) -> tuple[str | None, Type]:
        """The canonical text and the type of a constant."""

    def collation(self, query: str, column: str) -> str | None:
        """The collation of a query's column, qualified; None if its type has none."""

    def field_type(self, source: Source, sql: str) -> Type:
        """The type of an expression over the table's own columns."""
