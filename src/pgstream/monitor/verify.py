"""verify: compares a stream table with PostgreSQL's own answer to its query."""

from __future__ import annotations

from dataclasses import dataclass

from pgstream.catalog.records import StreamTable
from pgstream.database.connection import Connection
from pgstream.database.quoting import compose, identifier, listed, raw


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
    columns = listed(table.columns)
    stored = compose("SELECT {c} FROM {t}", c=columns, t=identifier(table.schema, table.name))
    query = compose("SELECT * FROM ({q}) q", q=raw(table.defining_query))
    counts = []
    for first, second in ((query, stored), (stored, query)):
        row = connection.execute(
            compose("SELECT count(*) FROM (({a}) EXCEPT ALL ({b})) d", a=first, b=second)
        ).fetchone()
        assert row is not None
        counts.append(row[0])
    return Verification(table.full_name, *counts)


__all__ = ["Verification", "compare"]
