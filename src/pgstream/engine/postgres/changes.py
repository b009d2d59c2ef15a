"""Reads the changes of sources: what is new in a buffer, and what this cycle has computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import psycopg
from psycopg import sql

from pgstream.algebra.operators.scan import Change, Part, Scan
from pgstream.capture.names import buffer
from pgstream.capture.unseen import unseen
from pgstream.engine.postgres.queries import WEIGHT, reading_query, uncancelled
from pgstream.engine.postgres.reading import in_slices, read_rows
from pgstream.engine.rows import Bound, Rows, consolidated
from pgstream.engine.ways import Ways


@dataclass(frozen=True)
class ChangeReader:
    """`counts` and `frontiers` are those of buffers, by relid. `deltas` are the uncommitted
    changes of stream tables that this cycle refreshes, in the committing transaction `apply`."""

    reader: psycopg.Connection
    frontiers: Mapping[int, str]
    counts: Mapping[int, int]
    apply: psycopg.Connection
    deltas: Mapping[int, sql.Identifier]
    ways: Ways
    slices: int

    def read(self, change: Change) -> Bound:
        is_pending = change.part is Part.PENDING
        return self._pending(change.scan) if is_pending else self._committed(change.scan)

    def _committed(self, scan: Scan) -> Bound:
        relid = scan.source.relid
        where: sql.Composable = sql.SQL("__pgs_weight <> 0 AND {}").format(
            unseen(self.frontiers[relid])
        )
        table: sql.Composable = buffer(relid)
        if not self.ways.through_driver(self.counts[relid]):
            return in_slices(self.reader, scan, table, where, WEIGHT, self.slices)
        if any(f.sql for f in scan.fields):
            table, where = uncancelled(scan, table, where)
        return _net(self.reader, scan, table, where)

    def _pending(self, scan: Scan) -> Rows:
        return _net(self.apply, scan, self.deltas[scan.source.relid], None)


def _net(
    connection: psycopg.Connection,
    scan: Scan,
    table: sql.Composable,
    where: sql.Composable | None,
) -> Rows:
    """Changes that cancel out are gone."""
    query = reading_query(scan.fields, table, where, WEIGHT)
    rows = read_rows(connection, scan.fields, query)
    return Rows(consolidated(rows.table), rows.carriers)
