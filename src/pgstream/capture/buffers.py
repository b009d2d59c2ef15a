"""Buffers: what is new in the buffers of sources, for one snapshot.

Rows that triggers wrote are seen under the snapshot, for their writers wrote them. Rows decoded
from the WAL were written after the snapshot was taken, so they are read beside it, and their
writers' xids tell which of them it sees. Once everything up to the snapshot is decoded, those are
final: what is decoded later, the snapshot does not see, and nobody deletes what a reader needs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import psycopg
from psycopg import sql

from pgstream.capture.unseen import unseen
from pgstream.capture.wal.ingest import ingest
from pgstream.capture.wal.slot import insert_lsn
from pgstream.errors import CaptureLost

_DECODED = """
SELECT pg_current_snapshot()::text, (
    SELECT jsonb_object_agg(source_relid::bigint, wal_since) FROM pgstream.pgs_change_tracking
    WHERE wal_since IS NOT NULL AND source_relid = ANY(%s::oid[]))
"""


@dataclass(frozen=True)
class Buffers:
    reader: psycopg.Connection
    """Holds the snapshot."""
    beside: psycopg.Connection
    """Sees what is committed by now."""
    snapshot: str
    decoded: frozenset[int]
    """The sources that are captured from the WAL."""

    def connection(self, relid: int) -> psycopg.Connection:
        return self.beside if relid in self.decoded else self.reader

    def new(self, relid: int, frontier: str) -> sql.Composed:
        """The condition on the rows of a buffer, for that connection."""
        if relid not in self.decoded:
            return unseen(frontier)
        return sql.SQL("{} AND pg_visible_in_snapshot(__pgs_xid, {}::pg_snapshot)").format(
            unseen(frontier), sql.Literal(self.snapshot)
        )


def open_buffers(
    reader: psycopg.Connection, beside: psycopg.Connection, relids: Iterable[int]
) -> Buffers:
    """The reader's transaction has its snapshot; afterwards all that this sees is decoded.

    The order is what makes it so: the snapshot, then the end of the WAL, then decoding up to it.
    """
    wanted = list(relids)
    snapshot, seen = _decoded(reader, wanted)
    if seen:
        ingest(beside, insert_lsn(beside))
        if not seen.items() <= _decoded(beside, wanted)[1].items():
            raise CaptureLost(
                "The capture of a source was changed during the refresh.",
                hint="Refresh again.",
            )
    return Buffers(reader, beside, snapshot, frozenset(map(int, seen)))


def _decoded(connection: psycopg.Connection, relids: list[int]) -> tuple[str, dict[str, str]]:
    """The snapshot, and where in the WAL the changes of these sources begin; of those that are
    there."""
    row = connection.execute(_DECODED, (relids,)).fetchone()
    assert row is not None
    return row[0], row[1] or {}
