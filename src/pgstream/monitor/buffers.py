"""Which change buffers hold many rows."""

from __future__ import annotations

from dataclasses import dataclass

from pgstream.capture.names import find_buffer
from pgstream.database.connection import Connection
from pgstream.database.quoting import compose


@dataclass(frozen=True, slots=True)
class Buffer:
    relid: int
    source: str
    """The name of the source."""

    def exceeds(self, connection: Connection, rows: int) -> bool:
        query = "SELECT pgstream._buffer_exceeds(%s, %s)"
        row = connection.execute(query, (self.relid, rows)).fetchone()
        return bool(row and row[0])

    def count(self, connection: Connection) -> int:
        table = find_buffer(connection, self.relid)
        if table is None:
            return 0
        row = connection.execute(compose("SELECT count(*) FROM {t}", t=table)).fetchone()
        assert row is not None
        return int(row[0])


def large_buffers(connection: Connection, rows: int) -> list[Buffer]:
    """Those that hold more rows than this."""
    found = connection.execute(
        "SELECT source_relid::bigint, pgstream._relation_name(source_relid)"
        " FROM pgstream.pgs_change_tracking"
        " WHERE pgstream._buffer_exceeds(source_relid, %s) ORDER BY source_relid",
        (rows,),
    ).fetchall()
    return [Buffer(*row) for row in found]
