"""Whether a table is in a publication, so that others follow its changes."""

from __future__ import annotations

import psycopg

_PUBLISHED = """
SELECT EXISTS (SELECT FROM pg_publication WHERE puballtables)
    OR EXISTS (SELECT FROM pg_publication_rel WHERE prrelid = %(relid)s)
    OR EXISTS (SELECT FROM pg_publication_namespace n JOIN pg_class c ON c.relnamespace = n.pnnspid
               WHERE c.oid = %(relid)s)
"""


def is_published(connection: psycopg.Connection, relid: int) -> bool:
    row = connection.execute(_PUBLISHED, {"relid": relid}).fetchone()
    return bool(row and row[0])
