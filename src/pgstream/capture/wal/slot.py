"""The replication slot: make it, read it without moving it, and move it.

Reading is `peek`: `get` would move the slot even if the transaction that reads is rolled back.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import IntEnum

import psycopg
from psycopg import errors

from pgstream.capture.wal.lsn import lsn_text

MESSAGES_AT_ONCE = 1000  # each may be as large as a row

_PEEK = """
SELECT (lsn - '0/0'::pg_lsn)::bigint, data
FROM pg_logical_slot_peek_binary_changes(
    %s, %s::pg_lsn, NULL, 'proto_version', '1', 'publication_names', %s)
"""


class Lock(IntEnum):
    """Of the whole database: see pgstream._wal_lock."""

    READ = 0
    MAKE = 1


@dataclass(frozen=True, slots=True)
class Slot:
    name: str
    publication: str
    decoded_lsn: int
    """What was committed before it is in the buffers."""


@contextmanager
def reading_alone(connection: psycopg.Connection) -> Iterator[None]:
    """Waits for others who read the slot; PostgreSQL would refuse the second."""
    connection.execute("SELECT pg_advisory_lock(pgstream._wal_lock(), %s)", (Lock.READ,))
    try:
        yield
    finally:
        _unlock(connection, Lock.READ)


@contextmanager
def making_alone(connection: psycopg.Connection) -> Iterator[bool]:
    """Whether nobody else makes, drops or switches meanwhile; does not wait."""
    row = connection.execute(
        "SELECT pg_try_advisory_lock(pgstream._wal_lock(), %s)", (Lock.MAKE,)
    ).fetchone()
    is_alone = bool(row and row[0])
    try:
        yield is_alone
    finally:
        if is_alone:
            _unlock(connection, Lock.MAKE)


def _unlock(connection: psycopg.Connection, lock: Lock) -> None:
    if not connection.closed:
        connection.execute("SELECT pg_advisory_unlock(pgstream._wal_lock(), %s)", (lock,))


def slot_trouble(connection: psycopg.Connection) -> str | None:
    """Why it does not hold all that is not in the buffers yet; None if it does."""
    row = connection.execute("SELECT pgstream._slot_trouble()").fetchone()
    return row[0] if row else None


def known_slot(connection: psycopg.Connection) -> Slot | None:
    row = connection.execute(
        "SELECT slot_name, publication_name, (decoded_lsn - '0/0'::pg_lsn)::bigint"
        " FROM pgstream.pgs_wal"
    ).fetchone()
    return Slot(*row) if row else None


def make_slot(connection: psycopg.Connection, milliseconds: int) -> None:
    """The publication, then the slot, then what we know of it: each may be there already.

    PostgreSQL waits for every transaction that has begun to write. That may take longer than
    `milliseconds`; then it is QueryCanceled, and there is no slot.
    """
    connection.execute("SELECT pgstream._create_publication()")
    row = connection.execute(
        "SELECT FROM pg_replication_slots WHERE slot_name = pgstream._slot_name()"
    ).fetchone()
    if row is None:
        with connection.transaction():
            connection.execute(
                "SELECT set_config('statement_timeout', %s, true)", (str(milliseconds),)
            )
            connection.execute(
                "SELECT pg_create_logical_replication_slot(pgstream._slot_name(), 'pgoutput')"
            )
    connection.execute(
        "INSERT INTO pgstream.pgs_wal SELECT slot_name, pgstream._publication_name(),"
        " confirmed_flush_lsn FROM pg_replication_slots"
        " WHERE slot_name = pgstream._slot_name() AND database = current_database()"
        " AND NOT EXISTS (SELECT FROM pgstream.pgs_wal)"
    )


def insert_lsn(connection: psycopg.Connection) -> int:
    """Every transaction that anybody sees by now was committed before it."""
    row = connection.execute(
        "SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint"
    ).fetchone()
    assert row is not None
    return int(row[0])


def flush(connection: psycopg.Connection, upto: int) -> None:
    """Only WAL that is on disk is decoded, but a commit with synchronous_commit = off is seen
    before: a commit of our own takes it along."""
    row = connection.execute(
        "SELECT pg_current_wal_flush_lsn() >= %s::pg_lsn", (lsn_text(upto),)
    ).fetchone()
    if row and row[0]:
        return
    with connection.transaction():
        connection.execute("SET LOCAL synchronous_commit = local")
        connection.execute("SELECT pg_logical_emit_message(true, 'pgstream', '')")


def peek(
    connection: psycopg.Connection, slot: Slot, upto: int
) -> Iterator[list[tuple[int, bytes]]]:
    """The messages of all transactions that were committed before, in their order, some at a
    time. Inside a transaction."""
    with connection.cursor(name="pgstream_wal", binary=True) as cursor:
        cursor.execute(_PEEK, (slot.name, lsn_text(upto), slot.publication))
        while messages := cursor.fetchmany(MESSAGES_AT_ONCE):
            yield messages


def advance(connection: psycopg.Connection) -> None:
    """What is in the buffers, the server need not keep. Somebody who looks at the slot right now
    is no harm: the next time moves it further."""
    with suppress(errors.ObjectInUse):
        connection.execute(
            "SELECT pg_replication_slot_advance(w.slot_name, w.decoded_lsn)"
            " FROM pgstream.pgs_wal w JOIN pg_replication_slots s USING (slot_name)"
            " WHERE s.confirmed_flush_lsn < w.decoded_lsn"
        )
