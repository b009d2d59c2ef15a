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
from pgstream.storage.apply import apply
from pgstream.storage.names import COMMA, ROW_ID, type_sql
from pgstream.storage.target import Target
from pgstream.storage.temporary import load

OF_FEW_BYTES = ("uuid", "oid", '"char"', "time without time zone", "interval")


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
        self._index("row_id", [ROW_ID])

    def index(self, looked_up: Iterable[tuple[int, ...]]) -> None:
        """Indexes for the columns by which rows are looked up. A long text fits no B-tree, so a
        key of texts only gets an index of hashes."""
        columns = self.target.columns
        for wanted in looked_up:
            small = [i for i in wanted if _is_small(columns[i].type)]
            name = "_".join(map(str, small or wanted[:1]))
            names = [columns[i].name for i in small or wanted[:1]]
            self._index(name, list(map(sql.Identifier, names)), "btree" if small else "hash")

    def change(self, rows: pa.Table, trimmed: Sequence[bool]) -> None:
        """Adds and removes rows, by their weights."""
        kind, id_ = f"recursive_{self.number}", self.target.id
        delta = load(self.connection, kind, id_, self.target.columns, rows, trimmed)
        apply(self.connection, self.target, delta)

    def _index(self, suffix: str, columns: list[sql.Identifier], kind: str = "btree") -> None:
        name = sql.Identifier(f"__pgs_recursive_{self.target.id}_{self.number}_{suffix}")
        self.connection.execute(
            sql.SQL("CREATE INDEX IF NOT EXISTS {} ON {} USING {} ({})").format(
                name, self.target.table, sql.SQL(kind), COMMA.join(columns)
            )
        )

    def _defined(self, column: Column) -> sql.Composable:
        collate = sql.SQL(' COLLATE "C"' if column.type.is_text else "")
        name = sql.Identifier(column.name)
        return sql.SQL("{} {}{}").format(name, type_sql(column.type), collate)


def _is_small(type_: Type) -> bool:
    return type_.is_number or type_.is_time or type_.is_boolean or type_.name in OF_FEW_BYTES
