"""Where change buffers are. The SQL functions in `database/functions/capture` make them."""

from __future__ import annotations

import psycopg
from psycopg import sql

_SCHEMA = """
SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.oid = to_regclass(pgstream._buffer_name(%s::bigint::oid))
"""


def buffer(schema: str, relid: int) -> sql.Identifier:
    """The buffer of a source, in the schema that the catalog tells."""
    return sql.Identifier(schema, f"changes_{relid}")


def find_buffer(connection: psycopg.Connection, relid: int) -> sql.Identifier | None:
    """None if the changes of a relation are not captured; as of one that is no table, whose number
    is below zero."""
    if relid < 0:
        return None
    row = connection.execute(_SCHEMA, (relid,)).fetchone()
    return buffer(row[0], relid) if row else None
