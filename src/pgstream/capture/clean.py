"""Deletes buffer rows that every reader has seen."""

from __future__ import annotations

from collections.abc import Iterable

import psycopg
from psycopg import sql

from pgstream.capture.batches import delete_in_batches
from pgstream.capture.names import has_buffer

# The oldest transaction that some reader may not have seen. NULL, and nothing is deleted,
# while a reader without a frontier for the source is being refreshed: its snapshot is older than
# its frontier's arrival in the catalog.
_HORIZON = """
SELECT d.source_relid::bigint,
       min((t.frontier #>> ARRAY['sources', d.source_relid::text, 'lsn'])::pg_lsn)::text,
       min(pg_snapshot_xmin((t.frontier #>> ARRAY['sources', d.source_relid::text, 'snapshot'])
           ::pg_snapshot)::text::numeric)::text
FROM pgstream.pgs_dependencies d JOIN pgstream.pgs_stream_tables t USING (pgs_id)
WHERE d.source_relid = ANY(%s::oid[]) AND t.refresh_mode <> 'FULL'
GROUP BY d.source_relid
HAVING NOT bool_or(
    t.frontier #>> ARRAY['sources', d.source_relid::text, 'snapshot'] IS NULL AND EXISTS (
    SELECT FROM pgstream.pgs_refresh_history h
    WHERE h.pgs_id = t.pgs_id AND h.status = 'RUNNING'))
"""
_BEFORE = sql.SQL("__pgs_xid < %s::xid8")


def clean(connection: psycopg.Connection, relids: Iterable[int]) -> None:
    """After the commit, of these sources, in small transactions."""
    for relid, lsn, horizon in connection.execute(_HORIZON, (list(relids),)).fetchall():
        connection.execute(
            "UPDATE pgstream.pgs_change_tracking SET last_consumed_lsn = %s::pg_lsn"
            " WHERE source_relid = %s AND last_consumed_lsn IS DISTINCT FROM %s::pg_lsn",
            (lsn, relid, lsn),
        )
        if horizon is not None and has_buffer(connection, relid):
            delete_in_batches(connection, relid, _BEFORE, (horizon,))
            connection.execute(
                "DELETE FROM pgstream.pgs_capture_failures"
                " WHERE source_relid = %s AND xid < %s::xid8",
                (relid, horizon),
            )
