"""verify: compares a stream table with PostgreSQL's own answer to its query."""

from __future__ import annotations

from dataclasses import dataclass

from pgstream.algebra.types import NO_EQUALITY
from pgstream.catalog.records import StreamTable
from pgstream.database.connection import Connection
from pgstream.database.quoting import Composed, compose, identifier, joined, listed, raw


@dataclass(frozen=True, slots=True)
class Verification:
    """`missing` rows are in the query's answer only, `extra` ones in the stream table only."""

    name: str
    missing: int
    extra: int

    @property
    def exact(self) -> bool:
        return not (self.missing or self.extra)


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
    types: dict[str, str] = dict(
        connection.execute(
            "SELECT attname::text, format_type(atttypid, NULL) FROM pg_attribute"
            " WHERE attrelid = %s AND attnum > 0",
            (table.relid,),
        ).fetchall()
    )
    return joined(
        compose("{c}::text" if types[name] in NO_EQUALITY else "{c}", c=identifier(name))
        for name in table.columns
    )


__all__ = ["Verification", "compare"]
