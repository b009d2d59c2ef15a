"""drain: what the slot holds goes into the buffers though nobody refreshes, so that the server need
not keep its WAL; a slot that nobody needs is dropped."""

from __future__ import annotations

import psycopg

from pgstream.capture.wal.ingest import ingest
from pgstream.capture.wal.slot import insert_lsn, slot_trouble


def drain(connection: psycopg.Connection) -> None:
    """What is wrong with the slot is left to the next refresh, which mends it."""
    connection.execute("SELECT pgstream._drop_unused_slot()")
    if slot_trouble(connection) is None:
        ingest(connection, insert_lsn(connection))
