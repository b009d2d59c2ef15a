"""The rows of a recursive CTE: a state table, or the stream table itself.

pgstream_state.recursive_<id>_<number>   the CTE's columns, and the row id
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import psycopg
import pyarrow as pa
from psycopg import sql

from pgstream.algebra.operators.node import Column
from pgstream.algebra.operators.scan import Field, Scan
from pgstream.storage.apply import apply
from pgstream.storage.indexes import create_index, index_lookups
from pgstream.storage.names import COMMA, ROW_ID, type_sql
from pgstream.storage.replica_identity import identify_rows
from pgstream.storage.target import Target
from pgstream.storage.temporary import load


class RecursiveTable:
    """In the committing transaction."""

    def __init__(self, connection: psycopg.Connection, id_: int, scan: Scan) -> None:
        source = scan.source
        self.connection = connection
        self.target = Target(id_, source.relid, source.schema, source.name, scan.columns)
        self.number = -source.relid - 1

    def create(self) -> None:
        """An empty state table, with the columns of today."""
        target = self.target
        self.connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(target.table))
        defined = [self._defined(column) for column in target.columns]
        self.connection.execute(
            sql.SQL("CREATE TABLE {} ({}, {} bigint NOT NULL)").format(
                target.table, COMMA.join(defined), ROW_ID
            )
        )
        identify_rows(self.connection, target.table)
        create_index(self.connection, target.table, f"{self._prefix}_row_id", ["__pgs_row_id"])

    def index(self, looked_up: Iterable[Sequence[Field]]) -> None:
        """Indexes for the columns by which rows are looked up."""
        index_lookups(self.connection, self.target.table, self._prefix, looked_up)

    def change(self, rows: pa.Table, trimmed: Sequence[bool]) -> None:
        """Adds and removes rows, by their weights."""
        kind, id_ = f"recursive_{self.number}", self.target.id
        delta = load(self.connection, kind, id_, self.target.columns, rows, trimmed)
        apply(self.connection, self.target, delta)

    @property
    def _prefix(self) -> str:
        return f"__pgs_recursive_{self.target.id}_{self.number}"

    def _defined(self, column: Column) -> sql.Composable:
        collate = sql.SQL(' COLLATE "C"' if column.type.is_text else "")
        name = sql.Identifier(column.name)
        return sql.SQL("{} {}{}").format(name, type_sql(column.type), collate)
