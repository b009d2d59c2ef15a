"""Expectation: what is asked about the number of rows that nodes give.

Each node answers for itself, given what is expected of others (`Node.expected_rows`,
`Node.expected_values`). Statistics answer for tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

NodeType = TypeVar("NodeType", contravariant=True)


class Expectation(Protocol[NodeType]):
    """How many rows, and how many different values, are expected."""

    def rows(self, node: NodeType) -> float: ...

    def distinct(self, node: NodeType, indexes: tuple[int, ...]) -> float:
        """How many different values these columns have together; at least one."""

    def changed(self, relid: int, part: str) -> float:
        """How many rows of this part of a source's change there are."""

    def stored(self, schema: str, table: str) -> float:
        """How many rows a table has."""

    def stored_values(self, schema: str, table: str, columns: Sequence[str]) -> float:
        """How many different values columns of a table have together; at least one."""
