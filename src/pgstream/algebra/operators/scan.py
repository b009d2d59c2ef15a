"""Scan: a source table, and its three leaves.

    Scan(R)              the table, in a query
    Stored(R)            R as the exported snapshot shows it
    Change(R, COMMITTED) what the snapshot shows and the old frontier did not
    Change(R, PENDING)   what this very cycle does to R, not committed yet

    Δ R      = committed + pending
    R after  = Stored + pending
    R before = Stored − committed

A base table has no pending part. A stream table that the same cycle refreshes has one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pgstream.algebra.operators.node import Column, Node
from pgstream.algebra.types import Type


@dataclass(frozen=True, slots=True)
class Source:
    relid: int
    schema: str
    name: str
    is_stream: bool

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}"


@dataclass(frozen=True, slots=True)
class Field:
    """A column of the table, or an expression that PostgreSQL computes while it reads.

    `equal_to` names the column of which the expression is the canonical value.
    """

    name: str
    type: Type
    sql: str | None = None
    equal_to: str | None = None


@dataclass(frozen=True, eq=False)
class Scan(Node):
    source: Source
    fields: tuple[Field, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(Column(f.name, f.type) for f in self.fields)


class Part(StrEnum):
    COMMITTED = "committed"
    PENDING = "pending"


@dataclass(frozen=True, eq=False)
class Stored(Node):
    scan: Scan

    @property
    def inputs(self) -> tuple[Node, ...]:
        return ()

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.scan.columns


@dataclass(frozen=True, eq=False)
class Change(Node):
    scan: Scan
    part: Part

    @property
    def inputs(self) -> tuple[Node, ...]:
        return ()

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.scan.columns
