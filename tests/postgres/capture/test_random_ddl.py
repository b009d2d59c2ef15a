"""Random DDL and writes: what was there, and the changes in the buffer, are what is there; else a
refresh knows that it must start again. No write fails because of us.

As in a refresh, without Spark: the reader of each table is played here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import rule, run_state_machine_as_test
from psycopg import sql
from psycopg.conninfo import make_conninfo

from pgstream.capture.buffers import open_buffers
from pgstream.capture.count_changes import count_changes
from pgstream.capture.names import buffer
from pgstream.capture.unseen import unseen
from pgstream.catalog import store
from pgstream.catalog.shapes import changed_shapes
from pgstream.database.connection import connect, connect_as_user
from pgstream.errors import SourceChanged
from pgstream.refresh.follow_ddl import follow_ddl
from random_ddl import SETUP, RandomDdl, tables

pytestmark = pytest.mark.postgres

OWNER = "pgs_test_owner"
EXAMPLES, STEPS = 8, 60


class Played(RandomDdl):
    """`seen` are the rows that each reader knows, `frontiers` up to where it has read."""

    make: Callable[[], str]

    def __init__(self) -> None:
        super().__init__()
        dsn = make_conninfo(self.make(), user=OWNER)
        self.user = connect_as_user(dsn)
        self.own = connect(dsn, autocommit=True)
        self.execute(SETUP)
        self.seen: dict[str, Counter[Any]] = {}
        self.frontiers: dict[str, str] = {}
        for table in self.names:
            self.execute(
                f"SELECT pgstream.create_stream_table('of_{table}', 'SELECT id, a FROM {table}')"
            )
            self.start_again(table)

    def execute(self, statement: str) -> Sequence[tuple[Any, ...]]:
        cursor = self.user.execute(statement)
        return cursor.fetchall() if cursor.description else []

    @rule(table=tables)
    def refresh(self, table: str) -> None:
        """As a cycle does: what has changed its shape, then what is new."""
        id_ = store.stream_table(self.own, f"of_{table}").id
        gone = self.read.get(table, "a") != "a"
        try:
            while changed := changed_shapes(self.own, [id_]):
                follow_ddl(self.own, changed)
        except SourceChanged:
            assert gone, f"{table} has what is read"
            return
        assert not gone, f"{table} lacks a column"
        self.catch_up(store.stream_table(self.own, f"of_{table}"), table)

    def catch_up(self, reader: Any, table: str) -> None:
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

    def teardown(self) -> None:
        try:
            self.bring_back()
            for table in self.names:
                self.refresh(table)
        finally:
            self.own.close()
            self.user.close()


def test_random_ddl(create_database: Callable[[str], str], installed_template: str) -> None:
    def made() -> str:
        return create_database(installed_template)

    run_state_machine_as_test(
        type("Machine", (Played,), {"make": staticmethod(made)}),
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            database=None,
            phases=(Phase.generate,),  # a database for each try: to cut down takes too long
        ),
    )
