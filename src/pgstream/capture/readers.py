"""The readers of a source, while none of them is being refreshed."""

from __future__ import annotations

import psycopg

_READERS = """
SELECT ARRAY(SELECT pgs_id FROM pgstream.pgs_dependencies
             WHERE source_relid = %s AND source_type <> 'VIEW' ORDER BY pgs_id)
"""
_LOCK = """
SELECT coalesce(bool_and(pg_try_advisory_xact_lock(pgstream._refresh_lock(), id::int)), true)
FROM unnest(%s::bigint[]) AS id
"""


def readers_of(connection: psycopg.Connection, relid: int) -> list[int]:
    row = connection.execute(_READERS, (relid,)).fetchone()
    assert row is not None
    return list(row[0])


def are_quiet(connection: psycopg.Connection, readers: list[int]) -> bool:
    """Whether none of them is being refreshed; then none will be, until the transaction ends."""
    row = connection.execute(_LOCK, (readers,)).fetchone()
    return bool(row and row[0])
