"""What PostgreSQL's statistics tell of tables."""

from __future__ import annotations

import psycopg

_PER_VALUE = """
SELECT s.attname, greatest(c.reltuples / greatest(
         CASE WHEN s.n_distinct < 0 THEN -s.n_distinct * c.reltuples ELSE s.n_distinct END, 1), 1)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_stats s ON s.schemaname = n.nspname AND s.tablename = c.relname
WHERE c.oid = %(relid)s AND c.reltuples > 0 AND s.n_distinct <> 0
UNION ALL
SELECT a.attname, 1 FROM pg_index i JOIN pg_attribute a
  ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
WHERE i.indrelid = %(relid)s AND i.indisunique AND i.indisvalid AND i.indnkeyatts = 1
  AND i.indpred IS NULL
"""


def per_value(connection: psycopg.Connection, relid: int) -> dict[str, float]:
    """How many rows are expected to have the same value of a column. A unique column tells it
    without statistics."""
    return dict(connection.execute(_PER_VALUE, {"relid": relid}).fetchall())
