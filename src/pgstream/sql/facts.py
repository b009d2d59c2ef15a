"""What rewrites ask PostgreSQL. The engine answers; no row is read."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

Name = tuple[str, str]
"""A schema and what is in it."""


class Output(NamedTuple):
    """A column of a query's result."""

    name: str
    type: str
    """Without modifier."""
    collation: str | None
    """Qualified; None if it is the database's own, or if the type has none."""


class Facts(Protocol):
    def outputs(self, query: str) -> Sequence[Output]:
        """The columns of a query that reads tables only."""

    def returning_rows(
        self, functions: Sequence[Name]
    ) -> Mapping[Name, Collection[tuple[str, ...]]]:
        """Those of the functions that return rows, with the names of the columns of each that
        has the name; none where a row is one value."""
