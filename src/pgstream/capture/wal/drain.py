"""drain: what the slot holds goes into the buffers though nobody refreshes, so that the server need
not keep its WAL; a slot that nobody needs is dropped. leave_publication: nobody's writes fail."""

from __future__ import annotations

import psycopg

from pgstream.capture.wal.ingest import ingest
from pgstream.capture.wal.slot import Lock, insert_lsn, slot_trouble


def drain(connection: psycopg.Connection) -> None:
    """What is wrong with the slot is left to the next refresh, which mends it."""
    connection.execute("SELECT pgstream._drop_unused_slot()")
    if slot_trouble(connection) is None:
        ingest(connection, insert_lsn(connection))


def leave_publication(connection: psycopg.Connection) -> None:
    """Of tables that PostgreSQL would no longer let be written. One statement, and cheap: it is
    asked often, because no event trigger tells unless a superuser has made one."""
    connection.execute("SELECT pgstream._leave_publication()")


def drain_unless_busy(connection: psycopg.Connection) -> bool:
    """Whether it was done: somebody who reads the slot is not waited for."""
    row = connection.execute(
        "SELECT pg_try_advisory_lock(pgstream._wal_lock(), %s)", (Lock.READ,)
    ).fetchone()
    if not row or not row[0]:
        return False
    try:
        drain(connection)
    finally:
        if not connection.closed:
            connection.execute("SELECT pg_advisory_unlock(pgstream._wal_lock(), %s)", (Lock.READ,))
    return True
