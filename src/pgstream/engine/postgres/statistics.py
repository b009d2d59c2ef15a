"""statistics: what PostgreSQL expects of tables, in one query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

import psycopg
from psycopg import sql

from pgstream.algebra.catalog import Frequency
from pgstream.algebra.operators.scan import Source
from pgstream.engine.postgres.queries import expected_size

ROWS_OF_A_KEY = 10
"""Of a key that PostgreSQL knows nothing about."""


@dataclass(frozen=True)
class TableStatistics:
    rows: float = 0.0
    distinct: Mapping[str, float] = field(default_factory=dict)
    nulls: Mapping[str, float] = field(default_factory=dict)
    """How many rows have no value in a column."""

    def frequency(self, column: str) -> Frequency:
        nulls = self.nulls.get(column, 0.0)
        if column not in self.distinct:  # such as one that is NULL in every row
            return Frequency(nulls=nulls)
        return Frequency(max((self.rows - nulls) / self.distinct[column], 1.0), nulls)


@dataclass(frozen=True)
class PostgresStatistics:
    """By the name of the table, since tables of our own have no relid in plans."""

    tables: Mapping[tuple[str, str], TableStatistics]

    def rows(self, schema: str, table: str) -> float:
        return self._of(schema, table).rows

    def distinct(self, schema: str, table: str, columns: Iterable[str]) -> float:
        """How many different values the columns have together."""
        known = self._of(schema, table)
        found = 1.0
        for column in columns:
            found *= known.distinct.get(column, max(known.rows / ROWS_OF_A_KEY, 1.0))
        return max(min(found, known.rows), 1.0)

    def _of(self, schema: str, table: str) -> TableStatistics:
        return self.tables.get((schema, table), TableStatistics())


def read_statistics(
    connection: psycopg.Connection, sources: Iterable[Source]
) -> PostgresStatistics:
    names = sorted({(source.schema, source.name) for source in sources})
    found = connection.execute(
        _query(), {"schemas": [s for s, _ in names], "names": [n for _, n in names]}
    ).fetchall()
    return PostgresStatistics({(row[0], row[1]): _table(*row[2:]) for row in found})


def frequencies(connection: psycopg.Connection, source: Source) -> dict[str, Frequency]:
    """Of the columns of which that is known."""
    table = read_statistics(connection, [source]).tables.get((source.schema, source.name))
    if table is None:
        return {}
    return {column: table.frequency(column) for column in {**table.distinct, **table.nulls}}


def share(connection: psycopg.Connection, source: Source, condition: str) -> float:
    """Of a table of which PostgreSQL expects no rows, all that there is."""
    table = sql.SQL("SELECT FROM {}").format(sql.Identifier(source.schema, source.name))
    every = expected_size(connection, table).rows
    passing = expected_size(connection, sql.SQL("{} WHERE {}").format(table, sql.SQL(condition)))
    return min(passing.rows / every, 1.0) if every else 1.0


@cache
def _query() -> bytes:
    return resources.files(__package__).joinpath("statistics.sql").read_bytes()


def _table(
    rows: float, known: Mapping[str, Any], nulls: Mapping[str, float], unique: Iterable[str]
) -> TableStatistics:
    distinct = {column: max(-n * rows if n < 0 else n, 1.0) for column, n in known.items() if n}
    return TableStatistics(
        rows,
        {**distinct, **dict.fromkeys(unique, max(rows, 1.0))},
        {column: share * rows for column, share in nulls.items()},
    )
