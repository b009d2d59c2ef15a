"""Order: by which column rows are sorted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Order:
    """ORDER BY the column at `index`."""

    index: int
    descending: bool = False
    nulls_first: bool = False

    def written(self, column: str) -> str:
        """In SQL, PostgreSQL's and Spark's alike."""
        direction = "DESC" if self.descending else "ASC"
        return f"{column} {direction} NULLS {'FIRST' if self.nulls_first else 'LAST'}"
