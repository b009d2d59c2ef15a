"""RowId: the rows with one more column, a 64-bit hash of some of them.

The hash finds a row's copy in the stream table. It is never trusted alone. It stands in delta
trees only.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgstream.algebra.operators.node import (
    Column,
    Keys,
    Node,
    OfDeltaTrees,
    Origin,
    Restrict,
    names_at,
)
from pgstream.algebra.operators.row_local import RowLocal
from pgstream.algebra.types import BIGINT


@dataclass(frozen=True, eq=False)
class RowId(OfDeltaTrees, RowLocal):
    indexes: tuple[int, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        return (*self.input.columns, Column("__pgs_row_id", BIGINT))

    def describe(self) -> str:
        return f"RowId of ({names_at(self.indexes, self.input.columns)})"

    def restrict(self, indexes: tuple[int, ...], keys: Keys, down: Restrict) -> Node | None:
        return None

    def origins_of(self, index: int) -> tuple[Origin, ...]:
        return (Origin(0, index),) if index < len(self.input.columns) else ()
