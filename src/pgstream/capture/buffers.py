"""Buffers: what is new in the buffers of sources, for one snapshot.

Rows that triggers wrote are seen under the snapshot, for their writers wrote them. Rows decoded
from the WAL were written after the snapshot was taken, so they are read beside it, and their
writers' xids tell which of them it sees. Once everything up to the snapshot is decoded, those are
final: what is decoded later, the snapshot does not see, and nobody deletes what a reader needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import psycopg
from psycopg import sql

from pgstream.capture.names import buffer
from pgstream.capture.unseen import unseen
from pgstream.capture.wal.ingest import ingest
from pgstream.capture.wal.slot import insert_lsn
from pgstream.errors import CaptureLost

_TRACKED = """
SELECT pg_current_snapshot()::text, ARRAY(
    SELECT jsonb_build_array(source_relid::bigint, buffer_schema, wal_since)
    FROM pgstream.pgs_change_tracking WHERE source_relid = ANY(%s::oid[]))
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
    schemas: Mapping[int, str]
    """Where the buffer of each captured source is."""

    def table(self, relid: int) -> sql.Identifier:
        return buffer(self.schemas[relid], relid)

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
    snapshot, schemas, seen = _tracked(reader, wanted)
    if seen:
        ingest(beside, insert_lsn(beside))
        _, _, now = _tracked(beside, wanted)
        if not seen.items() <= now.items():
            raise CaptureLost(
                "The capture of a source was changed during the refresh.",
                hint="Refresh again.",
            )
    return Buffers(reader, beside, snapshot, frozenset(seen), schemas)


def _tracked(
    connection: psycopg.Connection, relids: list[int]
) -> tuple[str, dict[int, str], dict[int, str]]:
    """The snapshot; the schemas of the buffers of these sources, and where in the WAL their changes
    begin, of those that are there."""
    row = connection.execute(_TRACKED, (relids,)).fetchone()
    assert row is not None
    snapshot, found = row
    begin = {relid: since for relid, _, since in found if since is not None}
    return snapshot, {relid: schema for relid, schema, _ in found}, begin
