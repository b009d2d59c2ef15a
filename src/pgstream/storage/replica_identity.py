"""identify_rows: rows of a table of our own can be deleted whatever is published.

Under a publication FOR ALL TABLES, PostgreSQL refuses UPDATE and DELETE of tables that do not say
how a row is told from others.
"""

from __future__ import annotations

import psycopg
from psycopg import sql


def identify_rows(connection: psycopg.Connection, table: sql.Identifier) -> None:
    connection.execute(sql.SQL("ALTER TABLE {} REPLICA IDENTITY FULL").format(table))
