"""The advisory locks that a worker looks at: requests, and refreshes under way."""

from __future__ import annotations

from dataclasses import dataclass

from pgstream.database import migrate
from pgstream.database.connection import Connection, connect_to_catalog

_LOCKS = """
SELECT classid = pgstream._request_lock()::oid, objid::bigint
FROM pg_locks
WHERE locktype = 'advisory' AND granted AND objsubid = 2
  AND classid IN (pgstream._request_lock()::oid, pgstream._refresh_lock()::oid)
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


@dataclass(frozen=True, slots=True)
class Locks:
    """Ids of stream tables."""

    requested: frozenset[int]
    """Somebody has called refresh_stream_table in SQL and waits."""
    busy: frozenset[int]
    """Somebody is refreshing it."""


def look(connection: Connection) -> Locks:
    rows = connection.execute(_LOCKS).fetchall()
    return Locks(
        frozenset(id_ for is_request, id_ in rows if is_request),
        frozenset(id_ for is_request, id_ in rows if not is_request),
    )


def connect_worker(dsn: str) -> Connection:
    """A connection by which SQL callers see that a worker is there."""
    connection = connect_to_catalog(dsn, "pgstream worker")
    try:
        migrate.require(connection)
        announce_worker(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def announce_worker(connection: Connection) -> None:
    """Tells all that a worker is alive, for as long as the connection is."""
    connection.execute("SELECT pg_advisory_lock_shared(pgstream._worker_lock(), 0)")
    connection.execute("LISTEN pgstream_wake")
