"""verify: compares a stream table with PostgreSQL's own answer to its query."""

from __future__ import annotations

from dataclasses import dataclass

from pgstream.algebra.types import NO_EQUALITY
from pgstream.catalog.records import StreamTable
from pgstream.database.connection import Connection
from pgstream.database.quoting import Composed, compose, identifier, joined, listed, raw

_TYPES_INSIDE = """
WITH RECURSIVE inside(attname, type) AS (
    SELECT attname, atttypid FROM pg_attribute WHERE attrelid = %s AND attnum > 0
    UNION SELECT i.attname, part.type FROM inside i JOIN pg_type t ON t.oid = i.type
    CROSS JOIN LATERAL (
        SELECT t.typelem WHERE t.typelem <> 0 UNION ALL
        SELECT t.typbasetype WHERE t.typbasetype <> 0 UNION ALL
        SELECT a.atttypid FROM pg_attribute a
        WHERE t.typtype = 'c' AND a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped
    ) AS part(type)
)
SELECT attname::text, format_type(type, NULL) FROM inside
"""


@dataclass(frozen=True, slots=True)
class Verification:
    """`missing` rows are in the query's answer only, `extra` ones in the stream table only."""

    name: str
    missing: int
    extra: int
    hidden: tuple[Verification, ...] = ()
    """Of its hidden tables: they hold what their aggregates give over the sources of now."""

    @property
    def exact(self) -> bool:
        return not (self.missing or self.extra) and all(each.exact for each in self.hidden)


def compare(connection: Connection, table: StreamTable) -> Verification:
    """EXCEPT ALL both ways, under the connection's snapshot."""
    columns = _compared(connection, table)
    stored = compose("SELECT {c} FROM {t}", c=columns, t=identifier(table.schema, table.name))
    names = listed(table.columns)
    query = compose("SELECT {c} FROM ({q}) q({n})", c=columns, n=names, q=raw(table.defining_query))
    counts = []
    for first, second in ((query, stored), (stored, query)):
        row = connection.execute(
            compose("SELECT count(*) FROM (({a}) EXCEPT ALL ({b})) d", a=first, b=second)
        ).fetchone()
        assert row is not None
        counts.append(row[0])
    return Verification(table.full_name, *counts)


def _compared(connection: Connection, table: StreamTable) -> Composed:
    """The columns; one whose type has no equality is compared as text."""
    found = connection.execute(_TYPES_INSIDE, (table.relid,)).fetchall()
    as_text = {column for column, type_ in found if type_ in NO_EQUALITY}
    return joined(
        compose("{c}::text" if name in as_text else "{c}", c=identifier(name))
        for name in table.columns
    )


__all__ = ["Verification", "compare"]
