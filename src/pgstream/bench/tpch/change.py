"""change: one round of changes in some of the tables."""

from __future__ import annotations

from collections.abc import Sequence

from pgstream.bench.tpch.sections import TABLES, sections
from pgstream.client import PgStream
from pgstream.database.quoting import compose, identifier


def change(stream: PgStream, tables: Sequence[str], share: float) -> None:
    """A third of the share each is inserted, updated and deleted; at least a row."""
    stream.execute("SELECT setseed(0.42)")
    written = sections("changes.sql")
    for table in (name for name in TABLES if name in tables):
        n = max(round(_size(stream, table) * share / 3), 1)
        for statement in written[table].split(";"):
            stream.connection.execute(statement.encode(), {"n": n})


def _size(stream: PgStream, table: str) -> int:
    query = compose("SELECT count(*) FROM {t}", t=identifier(table))
    row = stream.connection.execute(query).fetchone()
    assert row is not None
    return int(row[0])
