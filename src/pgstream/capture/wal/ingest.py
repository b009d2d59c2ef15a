"""ingest: brings what the slot holds into the buffers, exactly once.

Rows and the LSN up to which they are known are committed together; then the slot is moved. A kill
in between leaves a slot that shows the same transactions again, which the LSN leaves out.
"""

from __future__ import annotations

import psycopg
from psycopg import errors, sql

from pgstream.capture.names import buffer
from pgstream.capture.wal.decoding import Decoding
from pgstream.capture.wal.fall_back import fall_back
from pgstream.capture.wal.lsn import lsn_text
from pgstream.capture.wal.slot import (
    Slot,
    advance,
    flush,
    known_slot,
    peek,
    reading_alone,
    slot_trouble,
)
from pgstream.capture.wal.source import Lost, WalSource, wal_sources
from pgstream.errors import CaptureLost

_GONE = (errors.UndefinedObject, errors.ObjectNotInPrerequisiteState, errors.UndefinedFile)
_FIXED = ("__pgs_xid", "__pgs_lsn", "__pgs_action", "__pgs_weight")


def ingest(connection: psycopg.Connection, upto: int) -> None:
    """All transactions that were committed before this LSN are in the buffers afterwards.

    If that is impossible, triggers take over, and it is CaptureLost.
    """
    with reading_alone(connection):
        try:
            write_decoded(connection, upto)
        except Lost as lost:
            fall_back(connection, lost.relids, lost.reason)
            raise CaptureLost(
                f"Changes in the WAL are lost: {lost.reason}.",
                hint="Triggers capture them again. Refresh again: it reads whole tables.",
            ) from lost
        advance(connection)


def write_decoded(connection: psycopg.Connection, upto: int) -> None:
    """Commits the rows and how far they go. Whoever calls it reads the slot alone."""
    sources = wal_sources(connection)
    trouble = slot_trouble(connection)
    slot = known_slot(connection)
    if trouble is not None or slot is None:
        raise Lost(sources, trouble or "no replication slot was made")
    for source in sources.values():
        if source.trouble is not None:
            raise Lost([source.relid], source.trouble)
    if slot.decoded_lsn >= upto:
        return
    flush(connection, upto)
    try:
        with connection.transaction():
            # The slot forgets for good what these rows are.
            connection.execute("SET LOCAL synchronous_commit = local")
            _decode_and_copy(connection, slot, sources, upto)
    except _GONE as error:
        raise Lost(sources, f"the replication slot cannot be read: {_first_line(error)}") from error


def _decode_and_copy(
    connection: psycopg.Connection, slot: Slot, sources: dict[int, WalSource], upto: int
) -> None:
    decoding = Decoding(sources, slot.decoded_lsn, _next_xid(connection), connection.info.encoding)
    for messages in peek(connection, slot, upto):
        for lsn, data in messages:
            decoding.feed(lsn, data)
        while decoding.lines:
            relid, lines = decoding.lines.popitem()
            _copy(connection, sources[relid], lines)
    connection.execute(
        "UPDATE pgstream.pgs_wal SET decoded_lsn = greatest(decoded_lsn, %s::pg_lsn, %s::pg_lsn)",
        (lsn_text(upto), lsn_text(decoding.end)),
    )
    connection.execute(
        "UPDATE pgstream.pgs_dependencies d SET decoder_confirmed_lsn = w.decoded_lsn"
        " FROM pgstream.pgs_wal w WHERE d.cdc_mode = 'WAL'"
    )


def _copy(connection: psycopg.Connection, source: WalSource, lines: list[bytes]) -> None:
    columns = sql.SQL(", ").join(map(sql.Identifier, (*_FIXED, *source.columns)))
    table = buffer(source.schema, source.relid)
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(table, columns)
    try:
        with connection.cursor() as cursor, cursor.copy(statement) as copy:
            copy.write(b"".join(lines))
    except errors.DataError as error:
        reason = f"a value is not one of its column's type any more: {_first_line(error)}"
        raise Lost([source.relid], reason) from error


def _next_xid(connection: psycopg.Connection) -> int:
    row = connection.execute(
        "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint"
    ).fetchone()
    assert row is not None
    return int(row[0])


def _first_line(error: psycopg.Error) -> str:
    return error.diag.message_primary or str(error)
