"""RowId: the rows with one more column, a 64-bit hash of some of them.

The hash finds a row's copy in the stream table. It is never trusted alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgstream.algebra.operators.node import Column, Node
from pgstream.algebra.types import BIGINT


@dataclass(frozen=True, eq=False)
class RowId(Node):
    input: Node
    indexes: tuple[int, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        return (*self.input.columns, Column("__pgs_row_id", BIGINT))
