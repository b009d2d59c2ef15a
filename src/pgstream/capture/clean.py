"""Deletes buffer rows that every reader has seen."""

from __future__ import annotations

from collections.abc import Iterable

import psycopg
from psycopg import sql

from pgstream.capture.batches import BATCH, delete_batch, delete_in_batches
from pgstream.capture.names import buffer

# The oldest transaction that some reader may not have seen. NULL, and nothing is deleted,
# while a reader without a frontier for the source is being refreshed: its snapshot is older than
# its frontier's arrival in the catalog.
_HORIZON = """
SELECT d.source_relid::bigint,
       CASE WHEN to_regclass(pgstream._buffer_name(d.source_relid)) IS NOT NULL
            THEN pgstream._buffer_schema(d.source_relid) END,
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
ORDER BY d.source_relid
"""  # in one order: two who clean do not wait for each other
_BEFORE = sql.SQL("__pgs_xid < %s::xid8")


def clean(connection: psycopg.Connection, relids: Iterable[int]) -> None:
    """After the commit, of these sources, in small transactions."""
    found = connection.execute(_HORIZON, (list(relids),)).fetchall()
    seen = {
        relid: (buffer(schema, relid), horizon)
        for relid, schema, _, horizon in found
        if schema is not None and horizon is not None
    }
    with connection.pipeline():
        for relid, _, lsn, _ in found:
            connection.execute(
                "UPDATE pgstream.pgs_change_tracking SET last_consumed_lsn = %s::pg_lsn"
                " WHERE source_relid = %s AND last_consumed_lsn IS DISTINCT FROM %s::pg_lsn",
                (lsn, relid, lsn),
            )
        for relid, (_, horizon) in seen.items():
            connection.execute(
                "DELETE FROM pgstream.pgs_capture_failures"
                " WHERE source_relid = %s AND xid < %s::xid8",
                (relid, horizon),
            )
        first = [
            (table, horizon, delete_batch(connection, table, _BEFORE, (horizon,)))
            for table, horizon in seen.values()
        ]
    for table, horizon, deleted in first:
        if deleted.rowcount == BATCH:
            delete_in_batches(connection, table, _BEFORE, (horizon,))
