"""Step 7: deletes buffer rows that every reader has consumed."""

from __future__ import annotations

from collections.abc import Iterable

from pgstream.catalog.records import StreamTable
from pgstream.database.connection import Connection
from pgstream.database.quoting import compose, identifier

# The oldest transaction that some reader may not have seen. NULL, and nothing is deleted,
# while a reader without a frontier is being populated: its snapshot is older than its
# frontier's arrival in the catalog.
_HORIZON = """
SELECT d.source_relid::bigint,
       min((t.frontier #>> ARRAY['sources', d.source_relid::text, 'lsn'])::pg_lsn)::text,
       min(pg_snapshot_xmin((t.frontier #>> ARRAY['sources', d.source_relid::text, 'snapshot'])
           ::pg_snapshot)::text::numeric)::text
FROM pgstream.pgs_dependencies d JOIN pgstream.pgs_stream_tables t USING (pgs_id)
WHERE d.source_relid = ANY(%s::oid[]) AND t.refresh_mode <> 'FULL'
GROUP BY d.source_relid
HAVING NOT bool_or(t.frontier IS NULL AND EXISTS (
    SELECT FROM pgstream.pgs_refresh_history h
    WHERE h.pgs_id = t.pgs_id AND h.status = 'RUNNING'))
"""


def clean(connection: Connection, tables: Iterable[StreamTable]) -> None:
    relids = {source.relid for table in tables for source in table.dependencies}
    for relid, lsn, horizon in connection.execute(_HORIZON, (list(relids),)).fetchall():
        connection.execute(
            "UPDATE pgstream.pgs_change_tracking SET last_consumed_lsn = %s::pg_lsn"
            " WHERE source_relid = %s AND last_consumed_lsn IS DISTINCT FROM %s::pg_lsn",
            (lsn, relid, lsn),
        )
        buffer = identifier("pgstream_changes", f"changes_{relid}")
        exists = connection.execute(
            "SELECT to_regclass(%s) IS NOT NULL", (f"pgstream_changes.changes_{relid}",)
        ).fetchone()
        if horizon is not None and exists and exists[0]:
            connection.execute(
                compose("DELETE FROM {b} WHERE __pgs_xid < %s::xid8", b=buffer), (horizon,)
            )
