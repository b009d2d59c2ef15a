"""Scan: a source table, and the leaves that it becomes in a delta tree.

    Scan(R)              the table, in a query; with a condition, its rows for which that is true
    Stored(R)            R as the exported snapshot shows it
    Lookup(R, c, K)      Stored(R) ⋉ K: PostgreSQL reads just the rows whose columns c are in K
    Change(R, COMMITTED) what the snapshot shows and the old frontier did not
    Change(R, PENDING)   what this very cycle does to R, not committed yet

    Δ R      = committed + pending
    R after  = Stored + pending
    R before = Stored − committed

A base table has no pending part. A stream table that the same cycle refreshes has one. All leaves
of a scan with a condition have that condition: PostgreSQL asks it while it reads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from math import expm1, log1p

from pgstream.algebra.expressions import quote_name
from pgstream.algebra.operators.leaf import Leaf
from pgstream.algebra.operators.negate import negate
from pgstream.algebra.operators.node import (
    MANY,
    Calculus,
    Column,
    Expects,
    Keys,
    Node,
    OfDeltaTrees,
    Restrict,
    Retype,
)
from pgstream.algebra.operators.union_all import add
from pgstream.algebra.types import Type


@dataclass(frozen=True, slots=True)
class Source:
    relid: int
    schema: str
    name: str
    is_stream: bool

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}"


UNKNOWN_PER_VALUE = 100.0
"""Where there are no statistics."""


@dataclass(frozen=True, slots=True)
class Field:
    """A column of the table, or an expression that PostgreSQL computes while it reads.

    `equal_to` names the column of which the expression is the canonical value. `per_value` is how
    many rows PostgreSQL's statistics expect to have the same value, `nulls` how many to have none.
    """

    name: str
    type: Type
    sql: str | None = None
    equal_to: str | None = None
    per_value: float = UNKNOWN_PER_VALUE
    nulls: float = 0.0

    @property
    def written(self) -> str:
        """As PostgreSQL computes it from a row of the table."""
        return quote_name(self.name) if self.sql is None else f"({self.sql})"


class Part(StrEnum):
    COMMITTED = "committed"
    PENDING = "pending"


@dataclass(frozen=True, eq=False)
class Scan(Leaf):
    source: Source
    fields: tuple[Field, ...]
    where: str | None = None
    """What PostgreSQL asks of the rows while it reads them."""
    share: float = 1.0
    """The share of the table's rows that its statistics expect to pass."""

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(Column(f.name, f.type) for f in self.fields)

    @property
    def words(self) -> str:
        """The condition, as leaves show it."""
        return "" if self.where is None else f" where {self.where}"

    def describe(self) -> str:
        return f"Scan {self.source} ({', '.join(f.name for f in self.fields)}){self.words}"

    def rows_per_key(self, indexes: tuple[int, ...]) -> float:
        return min((self.fields[i].per_value for i in indexes), default=MANY) * self.share

    def rows_without_key(self, indexes: tuple[int, ...]) -> float:
        return sum(self.fields[i].nulls for i in indexes) * self.share

    def delta(self, change: Calculus) -> Node | None:
        return add(*(self.changed(part, change) for part in Part))

    def state(self, change: Calculus, after: bool) -> Node:
        changed = self.changed(Part.PENDING if after else Part.COMMITTED, change)
        state = add(Stored(self), changed if after else negate(changed))
        assert state is not None
        return state

    def changed(self, part: Part, change: Calculus) -> Node | None:
        """This part of its change; None if it is empty."""
        return Change(self, part) if change.has_changed(self.source.relid, part) else None

    def with_computed(
        self, index: int, compute: Callable[[Field], Field]
    ) -> tuple[Node, int] | None:
        field = compute(self.fields[index])
        if field in self.fields:
            return self, self.fields.index(field)
        return replace(self, fields=(*self.fields, field)), len(self.fields)

    def values_stored(self, indexes: tuple[int, ...], expect: Expects) -> float:
        """How many different values these columns have in the table."""
        fields = [self.fields[i] for i in indexes]
        names = [each.equal_to or each.name for each in fields]
        return expect.stored_values(self.source.schema, self.source.name, names)

    def computes(self, index: int) -> bool:
        """The rows of a recursive CTE come from Spark."""
        return self.source.relid < 0 and self.source.is_stream

    def retyped(self, retype: Retype) -> Node:
        fields = [replace(f, type=retype(i, f.type)) for i, f in enumerate(self.fields)]
        return replace(self, fields=tuple(fields))


@dataclass(frozen=True, eq=False)
class Stored(OfDeltaTrees, Leaf):
    scan: Scan

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.scan.columns

    def describe(self) -> str:
        return f"Stored {self.scan.source}{self.scan.words}"

    @property
    def whole(self) -> Stored:
        """All rows of the table."""
        return Stored(replace(self.scan, where=None, share=1.0))

    def expected_rows(self, expect: Expects) -> float:
        source = self.scan.source
        return expect.stored(source.schema, source.name) * self.scan.share

    def expected_values(self, indexes: tuple[int, ...], expect: Expects) -> float:
        return self.scan.values_stored(indexes, expect)

    def restrict(self, indexes: tuple[int, ...], keys: Keys, down: Restrict) -> Node | None:
        return Lookup(self, indexes, keys)

    def rows_per_key(self, indexes: tuple[int, ...]) -> float:
        return self.scan.rows_per_key(indexes)


@dataclass(frozen=True, eq=False)
class Change(OfDeltaTrees, Leaf):
    scan: Scan
    part: Part

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.scan.columns

    def expected_rows(self, expect: Expects) -> float:
        return expect.changed(self.scan.source.relid, self.part) * self.scan.share

    def expected_values(self, indexes: tuple[int, ...], expect: Expects) -> float:
        return drawn(self.scan.values_stored(indexes, expect), expect.rows(self))

    def describe(self) -> str:
        pending = " pending" if self.part is Part.PENDING else ""
        return f"Change {self.scan.source}{pending}{self.scan.words}"

    @property
    def is_signed(self) -> bool:
        return True


@dataclass(frozen=True, eq=False)
class Lookup(OfDeltaTrees, Leaf):
    stored: Stored
    indexes: tuple[int, ...]
    keys: Keys
    placed: bool = False
    """Whether the rows come with their places in the table, which tell them apart."""

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.stored.columns

    def expected_rows(self, expect: Expects) -> float:
        """keys × rows of the table / different values of the columns"""
        share = self.keys.expected_share(self.stored.whole, self.indexes, expect)
        return expect.rows(self.stored) * min(share, 1.0)

    def expected_values(self, indexes: tuple[int, ...], expect: Expects) -> float:
        if set(indexes) == set(self.indexes):
            return min(expect.rows(self.keys), expect.rows(self))
        return drawn(self.stored.scan.values_stored(indexes, expect), expect.rows(self))

    def describe(self) -> str:
        names = [self.stored.columns[i].name for i in self.indexes]
        scan = self.stored.scan
        return f"Lookup {scan.source} by {self.keys.in_words(names)}{scan.words}"


def drawn(values: float, rows: float) -> float:
    """How many of so many different values this many rows show, drawn at random:
    D × (1 − (1 − 1/D)ⁿ)."""
    if values <= 1.0:
        return min(values, rows)
    return -values * expm1(rows * log1p(-1.0 / values))
