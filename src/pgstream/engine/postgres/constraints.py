"""constraints: which columns of a table are never NULL, and in which no two rows agree.

A unique index is such a fact if it is valid, covers all rows and columns as they are, compares as
`=` does, is checked at once, and none of its columns can be NULL. The rows of inheritance children
are rows of the table, too; they are in no index of it, and may have NULLs of their own.

A foreign key is no such fact: rows that come by replication, or while its triggers are disabled,
are not asked for it.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgstream.database.connection import Connection

NOT_NULL = """
SELECT a.attrelid::bigint, a.attname::text
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
WHERE a.attrelid = ANY(%(relids)s::oid[]) AND a.attnum > 0 AND NOT a.attisdropped AND a.attnotnull
  AND c.relkind IN ('r', 'p')
  AND (c.relkind = 'p' OR NOT EXISTS (SELECT FROM pg_inherits h WHERE h.inhparent = c.oid))
  AND NOT EXISTS (
    SELECT FROM pg_constraint n
    WHERE n.conrelid = a.attrelid AND n.contype = 'n' AND NOT n.convalidated
      AND a.attnum = ANY(n.conkey))
ORDER BY 1, 2
"""
UNIQUE = """
SELECT i.indrelid::bigint, array_agg(a.attname::text ORDER BY a.attname)
FROM pg_index i
JOIN pg_class c ON c.oid = i.indrelid
CROSS JOIN LATERAL unnest(i.indkey::int2[], i.indclass::oid[]) WITH ORDINALITY k(attnum, opclass, n)
JOIN pg_opclass o ON o.oid = k.opclass
JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
WHERE i.indrelid = ANY(%(relids)s::oid[]) AND k.n <= i.indnkeyatts
  AND i.indisunique AND i.indisvalid AND i.indislive AND i.indimmediate
  AND i.indpred IS NULL AND i.indexprs IS NULL
  AND (c.relkind = 'p' OR NOT EXISTS (SELECT FROM pg_inherits h WHERE h.inhparent = c.oid))
GROUP BY i.indexrelid, i.indrelid
HAVING bool_and(o.opcdefault AND a.attnotnull AND NOT EXISTS (
    SELECT FROM pg_constraint n
    WHERE n.conrelid = a.attrelid AND n.contype = 'n' AND NOT n.convalidated
      AND a.attnum = ANY(n.conkey)))
ORDER BY 1, 2
"""


def not_null(connection: Connection, relids: Sequence[int]) -> tuple[tuple[int, str], ...]:
    """The relid and the name of each column."""
    rows = connection.execute(NOT_NULL, {"relids": list(relids)}).fetchall()
    return tuple((relid, name) for relid, name in rows)


def unique_keys(
    connection: Connection, relids: Sequence[int]
) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """The relid of each key and its columns, by name."""
    rows = connection.execute(UNIQUE, {"relids": list(relids)}).fetchall()
    return tuple((relid, tuple(names)) for relid, names in rows)
