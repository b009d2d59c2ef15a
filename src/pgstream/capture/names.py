"""The names of change buffers. The SQL functions in `database/functions/capture` make them."""

from __future__ import annotations

import psycopg
from psycopg import sql

SCHEMA = "pgstream_changes"


def buffer(relid: int) -> sql.Identifier:
    """The buffer of a source."""
    return sql.Identifier(SCHEMA, f"changes_{relid}")


def has_buffer(connection: psycopg.Connection, relid: int) -> bool:
    """Whether the changes of a relation are captured."""
    name = buffer(relid).as_string(connection)
    row = connection.execute("SELECT to_regclass(%s) IS NOT NULL", (name,)).fetchone()
    return row is not None and bool(row[0])
