"""WalSource: a table whose changes are read from the WAL, and why they may be lost."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import psycopg

from pgstream.capture.wal.messages import Relation


class Lost(Exception):
    """What the slot holds of these sources cannot become rows of their buffers."""

    def __init__(self, relids: Collection[int], reason: str) -> None:
        super().__init__(reason)
        self.relids, self.reason = tuple(relids), reason


@dataclass(frozen=True, slots=True)
class WalSource:
    relid: int
    schema: str
    """Of its buffer."""
    since: int
    """Where in the WAL it begins; what is before was captured by triggers."""
    columns: tuple[str, ...]
    """Those of its buffer."""
    types: tuple[int, ...]
    trouble: str | None
    """Why the WAL does not tell all of it."""

    def positions(self, shape: Relation) -> tuple[int, ...]:
        """Where in a decoded row the buffer's columns are."""
        found = {column.name: i for i, column in enumerate(shape.columns)}
        for name, type_oid in zip(self.columns, self.types, strict=True):
            at = found.get(name)
            if at is None or shape.columns[at].type_oid != type_oid:
                raise Lost([self.relid], f"the columns of {shape.schema}.{shape.name} have changed")
        return tuple(found[name] for name in self.columns)


def wal_sources(connection: psycopg.Connection) -> dict[int, WalSource]:
    """All of the database, by relid."""
    rows = connection.execute(
        "SELECT relid::bigint, buffer_schema, (since - '0/0'::pg_lsn)::bigint, columns,"
        " types::bigint[], trouble FROM pgstream._wal_sources()"
    ).fetchall()
    return {
        relid: WalSource(relid, schema, since, tuple(columns), tuple(types), trouble)
        for relid, schema, since, columns, types, trouble in rows
    }
