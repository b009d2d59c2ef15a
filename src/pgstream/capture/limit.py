"""limit: a buffer that grew too long is emptied, and a marker stands for what was in it.

The marker has the action `O` and weight 0, as that of a TRUNCATE. A refresh that finds one it has
not seen is full. Nothing is lost, whoever refreshes meanwhile:

1. The marker is committed, and with it the snapshot M that its transaction sees is known.
2. Only rows of transactions that M sees are deleted.

Whoever sees a row gone sees the marker. Whoever has seen the marker has a snapshot that is younger
than M, so all that is deleted was in the tables when they were read.

Rows decoded from the WAL are read beside the snapshot, so a refresh that is under way would see
them gone, and no marker. Their buffer is emptied while none of its readers is being refreshed.
"""

from __future__ import annotations

import psycopg
from psycopg import sql

from pgstream.capture.batches import delete_in_batches
from pgstream.capture.names import find_buffer
from pgstream.capture.readers import are_quiet, readers_of

OVERFLOW = "O"


def empty_buffer(connection: psycopg.Connection, relid: int) -> int:
    """How many rows were dropped. Outside of a transaction."""
    buffer = find_buffer(connection, relid)
    with connection.transaction():
        if buffer is None or not _may_go(connection, relid):
            return 0
        connection.execute(
            sql.SQL("INSERT INTO {} (__pgs_action, __pgs_weight) VALUES ({}, 0)").format(
                buffer, sql.Literal(OVERFLOW)
            )
        )
        row = connection.execute("SELECT pg_current_snapshot()::text").fetchone()
    assert row is not None
    return delete_in_batches(connection, buffer, seen_by(row[0]))


def _may_go(connection: psycopg.Connection, relid: int) -> bool:
    row = connection.execute("SELECT pgstream._is_wal_captured(%s)", (relid,)).fetchone()
    is_decoded = bool(row and row[0])
    return not is_decoded or are_quiet(connection, readers_of(connection, relid))


def seen_by(snapshot: str) -> sql.Composed:
    """The condition on a buffer's rows. The first half is there for the index."""
    return sql.SQL(
        "__pgs_xid < pg_snapshot_xmax({s}::pg_snapshot)"
        " AND pg_visible_in_snapshot(__pgs_xid, {s}::pg_snapshot)"
    ).format(s=sql.Literal(snapshot))
