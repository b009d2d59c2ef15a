"""Random DDL and writes: what was there, and the changes in the buffer, are what is there; else a
refresh knows that it must start again. No write fails because of us.

As in a refresh, without Spark: the reader of each table is played here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis.stateful import rule
from psycopg import sql

from followed_ddl import FollowedDdl
from pgstream.capture.buffers import open_buffers
from pgstream.capture.count_changes import count_changes
from pgstream.capture.names import buffer
from pgstream.capture.unseen import unseen
from pgstream.catalog.records import StreamTable
from random_ddl import play, tables

pytestmark = pytest.mark.postgres

EXAMPLES, STEPS = 8, 60


class Changes(FollowedDdl):
    """`seen` are the rows that each reader knows, `frontiers` up to where it has read."""

    readers = ("plain", "parts", "tree")

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[str, Counter[Any]] = {}
        self.frontiers: dict[str, str] = {}
        for table in self.readers:
            self.execute(
                f"SELECT pgstream.create_stream_table('of_{table}', 'SELECT id, a FROM {table}')"
            )
            self.start_again(table)

    @rule(name=tables)
    def refresh(self, name: str) -> None:
        """As a cycle does: what has changed its shape, then what is new."""
        reader = self.followed(f"of_{name}", lacks=self.read.get(name, "a") != "a")
        if reader is not None:
            self.catch_up(reader, name)

    def catch_up(self, reader: StreamTable, table: str) -> None:
        (source,) = reader.dependencies
        buffers = open_buffers(self.own, self.own, [source.relid])
        found = count_changes(buffers, source.relid, self.frontiers[table])
        if reader.needs_reinit or found.markers:
            self.start_again(table)
            return
        query = sql.SQL("SELECT id, a, __pgs_weight FROM {} WHERE {}")
        changes = query.format(buffer(source.relid), unseen(self.frontiers[table]))
        for id_, a, weight in self.own.execute(changes):
            self.seen[table][id_, a] += weight
        rows = self.rows(table)
        assert self.seen[table] == rows, f"{table}: {self.seen[table]} is not {rows}"
        self.note(table, rows)

    def start_again(self, table: str) -> None:
        self.own.execute(
            "UPDATE pgstream.pgs_stream_tables SET needs_reinit = false, reinit_reason = NULL"
            " WHERE pgs_name = %s",
            (f"of_{table}",),
        )
        self.note(table, self.rows(table))

    def note(self, table: str, rows: Counter[Any]) -> None:
        self.seen[table] = rows
        self.frontiers[table] = str(self.execute("SELECT pg_current_snapshot()::text")[0][0])

    def rows(self, table: str) -> Counter[Any]:
        return Counter(self.execute(f"SELECT id, a FROM {self.names[table]}"))


def test_random_ddl(create_database: Callable[[str], str], installed_template: str) -> None:
    play(Changes, lambda: create_database(installed_template), EXAMPLES, STEPS)
