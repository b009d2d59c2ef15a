"""The ways of a row: written into the statement, through the driver as Arrow, or read in slices
by the executors. What comes in slices also goes to PostgreSQL through tables, in parallel.

One account has the bytes that a refresh holds in the driver. A relation passes through it if it has
few rows and the account has room for what PostgreSQL expects of it; what was read is then entered
as it is. Beyond that, relations stay in PostgreSQL for the executors.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

from pgstream.algebra.types import Type
from pgstream.engine.carriers import travels_as_text

MOST_VALUES = 500
FIXED_WIDTH, OTHER_WIDTH = 8, 32
"""Bytes of a value, where PostgreSQL has no statistics."""


@dataclass
class Ways:
    """`most_rows` is how many rows of a relation may pass through the driver, `most_bytes` how
    much of all relations it may hold."""

    most_rows: int
    most_bytes: int
    held: int = 0

    def through_driver(self, rows: int, width: int) -> bool:
        return rows <= self.most_rows and self.has_room(rows * width)

    def has_room(self, size: int) -> bool:
        return self.held + size <= self.most_bytes

    def hold(self, rows: pa.Table) -> None:
        """From now on, to the end of the refresh, the driver holds these rows."""
        self.held += rows.nbytes

    @property
    def most_keys(self) -> int:
        """How many keys that executors have found may come to the driver."""
        return self.most_rows

    def in_statement(self, rows: pa.Table) -> bool:
        return bool(rows.num_rows * rows.num_columns <= MOST_VALUES)


def width_of(types: Iterable[Type]) -> int:
    """The bytes of a row with its weight, by its types alone."""
    widths = [OTHER_WIDTH if travels_as_text(type_) else FIXED_WIDTH for type_ in types]
    return FIXED_WIDTH + sum(widths)
