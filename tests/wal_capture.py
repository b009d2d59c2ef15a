"""What the tests of WAL capture share: a database whose installing role may replicate."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg import sql

from pgstream.capture.buffers import Buffers, open_buffers
from pgstream.capture.wal.settle import settle

REPLICATOR = "pgs_test_replicator"  # installs pgstream, and may use replication slots
TIMEOUT = 300


def oid(conn: psycopg.Connection, relation: str) -> int:
    row = conn.execute("SELECT %s::regclass::oid::int8", (relation,)).fetchone()
    assert row is not None
    return int(row[0])


def mode(conn: psycopg.Connection, relation: str) -> str:
    row = conn.execute(
        "SELECT min(cdc_mode) FROM pgstream.pgs_dependencies WHERE source_relid = %s::regclass",
        (relation,),
    ).fetchone()
    assert row is not None
    return str(row[0])


def triggers(conn: psycopg.Connection, relation: str) -> int:
    row = conn.execute(
        "SELECT count(*) FROM pg_trigger WHERE tgrelid = %s::regclass", (relation,)
    ).fetchone()
    assert row is not None
    return int(row[0])


def slots(conn: psycopg.Connection) -> list[str]:
    rows = conn.execute(
        "SELECT slot_name FROM pg_replication_slots WHERE database = current_database()"
    ).fetchall()
    return [row[0] for row in rows]


def settled(conn: psycopg.Connection, wanted: str = "wal", timeout: int = TIMEOUT) -> None:
    """As a refresh of all stream tables begins."""
    ids = [row[0] for row in conn.execute("SELECT pgs_id FROM pgstream.pgs_stream_tables")]
    settle(conn, ids, wanted, timeout)


def read_by(conn: psycopg.Connection, *relations: str) -> None:
    """A populated stream table that reads these, without anybody who refreshes it."""
    for number, relation in enumerate(relations):
        conn.execute(
            "SELECT pgstream.create_stream_table(%s, %s, '1h', 'DIFFERENTIAL', false)",
            (f"public.st_{number}", f"SELECT * FROM {relation}"),
        )
    conn.execute("UPDATE pgstream.pgs_stream_tables SET is_populated = true, status = 'ACTIVE'")


def needs_reinit(conn: psycopg.Connection) -> list[tuple[Any, ...]]:
    """Of each stream table, also whether its frontier is lost."""
    rows = conn.execute(
        "SELECT needs_reinit, coalesce(frontier ? 'lost', false)"
        " FROM pgstream.pgs_stream_tables ORDER BY pgs_id"
    )
    return rows.fetchall()


def pass_time(conn: psycopg.Connection, interval: str) -> None:
    """As if so much time had passed since."""
    conn.execute(
        "UPDATE pgstream.pgs_dependencies SET transition_started_at = transition_started_at - %s"
        "::interval",
        (interval,),
    )
    conn.execute(
        "UPDATE pgstream.pgs_change_tracking SET wal_next_attempt = wal_next_attempt - %s"
        "::interval",
        (interval,),
    )


def end_rest(conn: psycopg.Connection) -> None:
    """A transition that waits for somebody is tried at the next refresh."""
    conn.execute("UPDATE pgstream.pgs_change_tracking SET wal_next_attempt = NULL")


@dataclass
class Replica:
    """Follows a table as a refresh does: by changes alone, each seen by one snapshot and not by
    the one before. What it holds must be what the table holds under the same snapshot."""

    reader: psycopg.Connection
    beside: psycopg.Connection
    relation: str
    frontier: str = ""
    rows: dict[tuple[Any, ...], int] = field(default_factory=dict)

    @property
    def relid(self) -> int:
        return oid(self.reader, self.relation)

    @contextmanager
    def snapshot(self) -> Iterator[Buffers]:
        self.reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            self.reader.execute("SELECT pg_current_snapshot()")
            yield open_buffers(self.reader, self.beside, [self.relid])
        finally:
            self.reader.execute("ROLLBACK")

    def populate(self) -> None:
        with self.snapshot() as buffers:
            self.rows, self.frontier = self.table(), buffers.snapshot

    def refresh(self) -> int:
        """How many changes there were; afterwards it holds the table's rows, or the test fails."""
        with self.snapshot() as buffers:
            found = self.changes(buffers)
            for action, weight, *values in found:
                assert action != "T", "a refresh after TRUNCATE is full"
                self._add(tuple(values), weight)
            self.frontier = buffers.snapshot
            assert self.rows == self.table()
        return len(found)

    def actions(self) -> list[str]:
        """What is new, in order, without taking it."""
        with self.snapshot() as buffers:
            return [row[0] for row in self.changes(buffers)]

    def changes(self, buffers: Buffers) -> list[tuple[Any, ...]]:
        where = buffers.new(self.relid, self.frontier)
        columns = self._columns()
        return (
            buffers.connection(self.relid)
            .execute(
                sql.SQL(
                    "SELECT __pgs_action, __pgs_weight, {} FROM {} WHERE {}"
                    " ORDER BY __pgs_change_id"
                ).format(columns, buffers.table(self.relid), where)
            )
            .fetchall()
        )

    def table(self) -> dict[tuple[Any, ...], int]:
        query = sql.SQL("SELECT {} FROM {}").format(self._columns(), sql.SQL(self.relation))
        found: dict[tuple[Any, ...], int] = {}
        for row in self.reader.execute(query).fetchall():
            found[row] = found.get(row, 0) + 1
        return found

    def _columns(self) -> sql.Composable:
        names = self.reader.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = %s AND attnum > 0"
            " AND NOT attisdropped ORDER BY attnum",
            (self.relid,),
        ).fetchall()
        return sql.SQL(", ").join(sql.SQL("{}::text").format(sql.Identifier(n)) for (n,) in names)

    def _add(self, row: tuple[Any, ...], weight: int) -> None:
        count = self.rows.get(row, 0) + weight
        assert count >= 0, f"{row} is removed and was not there"
        self.rows[row] = count
        if not count:
            del self.rows[row]
