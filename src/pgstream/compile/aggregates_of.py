"""The user's aggregates among the functions that a stream table's query names."""

from __future__ import annotations

from pgstream.catalog.records import StreamTable
from pgstream.database.connection import Connection
from pgstream.errors import UnsupportedConstruct

_NAMED = """
SELECT n.nspname::text, p.proname::text, bool_and(p.prokind = 'a')
  FROM pgstream.pgs_stream_tables t
 CROSS JOIN unnest(t.functions_used) used(name)
 CROSS JOIN LATERAL parse_ident(used.name) part
  JOIN pg_namespace n ON n.nspname = part[1]
  JOIN pg_proc p ON p.pronamespace = n.oid AND p.proname = part[2]
 WHERE t.pgs_id = %s AND used.name LIKE '%%.%%'
 GROUP BY n.nspname, p.proname
HAVING bool_or(p.prokind = 'a')
"""


def aggregates_of(connection: Connection, table: StreamTable) -> frozenset[tuple[str, str]]:
    """Schema and name of each. One name for an aggregate and a function tells nothing."""
    found = connection.execute(_NAMED, (table.id,)).fetchall()
    for schema, name, is_aggregate in found:
        if not is_aggregate:
            raise UnsupportedConstruct(
                f"{schema}.{name} is the name of an aggregate and of a function.",
                construct=name,
                hint="Rename one of them: ALTER AGGREGATE … RENAME TO.",
            )
    return frozenset((schema, name) for schema, name, _ in found)
