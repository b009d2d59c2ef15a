"""Reads the changes of sources: what is new in a buffer, and what this cycle has computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from psycopg import sql

from pgstream.algebra.operators.scan import Change, Part, Scan
from pgstream.capture.buffers import Buffers
from pgstream.engine.postgres.handover import Handover
from pgstream.engine.postgres.queries import WEIGHT, passing, uncancelled
from pgstream.engine.postgres.reading import in_slices, net_rows
from pgstream.engine.rows import Bound
from pgstream.engine.ways import width_of


@dataclass(frozen=True)
class ChangeReader:
    """`counts` and `frontiers` are those of buffers, by relid. `deltas` are the uncommitted
    changes of stream tables that this cycle refreshes, in the committing transaction."""

    buffers: Buffers
    frontiers: Mapping[int, str]
    counts: Mapping[int, int]
    deltas: Mapping[int, sql.Identifier]
    handover: Handover

    def read(self, change: Change) -> Bound:
        scan = change.scan
        if change.part is Part.PENDING:
            return self.handover.passed_on(scan, self.deltas[scan.source.relid])
        return self._committed(scan)

    def _committed(self, scan: Scan) -> Bound:
        relid, ways = scan.source.relid, self.handover.ways
        connection = self.buffers.connection(relid)
        where = sql.SQL("__pgs_weight <> 0 AND {}").format(
            self.buffers.new(relid, self.frontiers[relid])
        )
        table = self.buffers.table(relid)
        if not ways.through_driver(self.counts[relid], width_of(f.type for f in scan.fields)):
            asked = passing(scan, where)
            found = in_slices(connection, scan, table, asked, WEIGHT, self.handover.slices)
            return replace(found, computed=relid in self.buffers.decoded)
        if any(f.sql for f in scan.fields):
            rows = net_rows(connection, scan, *uncancelled(scan, table, where))
        else:
            rows = net_rows(connection, scan, table, passing(scan, where))
        ways.hold(rows.table)
        return rows
