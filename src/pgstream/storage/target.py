"""Target: a table that a delta is applied to, a stream table or that of a recursive CTE."""

from __future__ import annotations

from dataclasses import dataclass

from psycopg import sql

from pgstream.algebra.operators.node import Column


@dataclass(frozen=True)
class Target:
    id: int
    """The stream table's."""
    relid: int
    schema: str
    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] | None = None
    """The columns that tell its rows apart, if that is known; () if it has one row at most."""

    @property
    def table(self) -> sql.Identifier:
        return sql.Identifier(self.schema, self.name)

    @property
    def full_name(self) -> str:
        return f"{self.schema}.{self.name}"

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]
