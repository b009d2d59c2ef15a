"""The ways of a row: written into the statement, through the driver as Arrow, or read in slices
by the executors. What comes in slices also goes to PostgreSQL through tables, in parallel."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

MOST_VALUES = 500


@dataclass(frozen=True)
class Ways:
    """`most_rows` is how many rows of a relation may pass through the driver."""

    most_rows: int

    def through_driver(self, rows: int) -> bool:
        return rows <= self.most_rows

    @property
    def most_keys(self) -> int:
        """How many keys that executors have found may come to the driver."""
        return self.most_rows

    def in_statement(self, rows: pa.Table) -> bool:
        return bool(rows.num_rows * rows.num_columns <= MOST_VALUES)
