"""The rows of a recursive CTE: a state table, or the stream table itself.

pgstream_state.recursive_<id>_<number>   the CTE's columns, and the row id
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import psycopg
import pyarrow as pa
from psycopg import sql

from pgstream.algebra.operators.node import Column
from pgstream.algebra.operators.scan import Scan
from pgstream.algebra.types import Type
from pgstream.storage.apply import Target
from pgstream.storage.names import COMMA, ROW_ID, temporary, type_sql
from pgstream.storage.staged import load

OF_FEW_BYTES = ("uuid", "oid", '"char"', "time without time zone", "interval")


class RecursiveTable(Target):
    """In the committing transaction."""

    def __init__(self, connection: psycopg.Connection, id_: int, scan: Scan) -> None:
        source = scan.source
        super().__init__(connection, id_, source.schema, source.name, source.relid, scan.columns)
        self.number = -source.relid - 1
        self.delta = temporary(f"recursive_{self.number}", id_)

    def create(self) -> None:
        """An empty state table, with the columns of today."""
        self.connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(self.table))
        defined = [self._defined(column) for column in self.columns]
        self.connection.execute(
            sql.SQL("CREATE TABLE {} ({}, {} bigint NOT NULL)").format(
                self.table, COMMA.join(defined), ROW_ID
            )
        )
        self._index("row_id", [ROW_ID])

    def index(self, looked_up: Iterable[tuple[int, ...]]) -> None:
        """Indexes for the columns by which rows are looked up. A long text fits no B-tree, so a
        key of texts only gets an index of hashes."""
        for columns in looked_up:
            small = [i for i in columns if _is_small(self.columns[i].type)]
            name = "_".join(map(str, small or columns[:1]))
            names = [self.names[i] for i in small or columns[:1]]
            self._index(name, list(map(sql.Identifier, names)), "btree" if small else "hash")

    def change(self, rows: pa.Table, trimmed: Sequence[bool]) -> None:
        """Adds and removes rows, by their weights."""
        load(self.connection, self.delta, self.columns, rows, trimmed)
        self.apply()
        self.connection.execute(sql.SQL("DROP TABLE {}").format(self.delta))

    def _index(self, suffix: str, columns: list[sql.Identifier], kind: str = "btree") -> None:
        name = sql.Identifier(f"__pgs_recursive_{self.id}_{self.number}_{suffix}")
        self.connection.execute(
            sql.SQL("CREATE INDEX IF NOT EXISTS {} ON {} USING {} ({})").format(
                name, self.table, sql.SQL(kind), COMMA.join(columns)
            )
        )

    def _defined(self, column: Column) -> sql.Composable:
        collate = sql.SQL(' COLLATE "C"' if column.type.is_text else "")
        name = sql.Identifier(column.name)
        return sql.SQL("{} {}{}").format(name, type_sql(column.type), collate)


def _is_small(type_: Type) -> bool:
    return type_.is_number or type_.is_time or type_.is_boolean or type_.name in OF_FEW_BYTES
