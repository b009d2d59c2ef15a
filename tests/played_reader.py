"""A stream table that is kept by the changes of its source, as a refresh does it, without Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from psycopg import sql

from pgstream.capture.buffers import Buffers, open_buffers
from pgstream.capture.count_changes import count_changes
from pgstream.capture.wal.settle import settle
from pgstream.catalog import store
from pgstream.catalog.shapes import changed_shapes
from pgstream.database.connection import Connection
from pgstream.refresh.follow_ddl import follow_ddl

CHANGES, AGAIN = "by changes", "again"
TIMEOUT = 300


@dataclass
class PlayedReader:
    """Of `SELECT <columns> FROM <one table>`, already created."""

    reader: Connection
    """Holds the snapshots."""
    own: Connection
    name: str
    columns: tuple[str, ...]
    cdc_mode: str = "trigger"
    rows: Counter[Any] = field(default_factory=Counter)
    frontier: str | None = None

    def refresh(self) -> str:
        """How it was done; afterwards it has the table's rows, or the test fails. SourceChanged if
        it cannot be computed, CaptureLost if it is to be tried again."""
        id_ = store.stream_table(self.own, self.name).id
        settle(self.own, [id_], self.cdc_mode, TIMEOUT)
        while changed := changed_shapes(self.own, [id_]):
            follow_ddl(self.own, changed)
        with self.snapshot() as buffers:
            is_new = self._starts_again(buffers)
            if not is_new:
                self._take_changes(buffers)
            found = self._table()
            assert is_new or self.rows == found, f"{self.name}: {self.rows} is not {found}"
            self.rows, self.frontier = found, buffers.snapshot
        self.own.execute(
            "UPDATE pgstream.pgs_stream_tables SET needs_reinit = false, reinit_reason = NULL,"
            " is_populated = true, status = 'ACTIVE' WHERE pgs_id = %s",
            (id_,),
        )
        return AGAIN if is_new else CHANGES

    @contextmanager
    def snapshot(self) -> Iterator[Buffers]:
        self.reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            self.reader.execute("SELECT pg_current_snapshot()")
            yield open_buffers(self.reader, self.own, [self._relid()])
        finally:
            self.reader.execute("ROLLBACK")

    def _starts_again(self, buffers: Buffers) -> bool:
        if self.frontier is None or store.stream_table(self.own, self.name).needs_reinit:
            return True
        counted = count_changes(buffers, self._relid(), self.frontier)
        return bool(counted.markers or counted.failure)

    def _take_changes(self, buffers: Buffers) -> None:
        relid = self._relid()
        query = sql.SQL("SELECT __pgs_weight, {} FROM {} WHERE {}").format(
            sql.SQL(", ").join(map(sql.Identifier, self.columns)),
            buffers.table(relid),
            buffers.new(relid, self.frontier or ""),
        )
        for weight, *values in buffers.connection(relid).execute(query).fetchall():
            self.rows[tuple(values)] += weight
        self.rows = +self.rows if min(self.rows.values(), default=0) >= 0 else self.rows

    def _table(self) -> Counter[Any]:
        query = sql.SQL("SELECT {} FROM {}").format(
            sql.SQL(", ").join(map(sql.Identifier, self.columns)),
            sql.Identifier(*self._source()),
        )
        return Counter(self.reader.execute(query).fetchall())

    def _relid(self) -> int:
        (source,) = store.stream_table(self.own, self.name).dependencies
        return source.relid

    def _source(self) -> tuple[str, str]:
        """Its name of today."""
        row = self.own.execute(
            "SELECT nspname, relname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace"
            " WHERE c.oid = %s::bigint",
            (self._relid(),),
        ).fetchone()
        assert row is not None
        return row[0], row[1]
