"""Random DDL: the stored queries mean what the user's mean, or something that they read is gone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import rule, run_state_machine_as_test
from psycopg.conninfo import make_conninfo

from pgstream.catalog import store
from pgstream.catalog.shapes import changed_shapes
from pgstream.compile.prepare import prepare
from pgstream.database.connection import connect, connect_as_user
from pgstream.errors import SourceChanged
from pgstream.refresh.follow_ddl import follow_ddl
from random_ddl import QUERIES, READERS_OF_A, SETUP, RandomDdl

pytestmark = pytest.mark.postgres

OWNER = "pgs_test_owner"
EXAMPLES, STEPS = 8, 50


class Followed(RandomDdl):
    make: Callable[[], str]

    def __init__(self) -> None:
        super().__init__()
        dsn = make_conninfo(self.make(), user=OWNER)
        self.user = connect_as_user(dsn)
        self.own = connect(dsn, autocommit=True)
        self.execute(SETUP)
        for name, query in QUERIES.items():
            text = query.format(**self.names)
            self.execute(f"SELECT pgstream.create_stream_table('{name}', '{text}')")

    def execute(self, statement: str) -> Sequence[tuple[Any, ...]]:
        cursor = self.user.execute(statement)
        return cursor.fetchall() if cursor.description else []

    @rule(name=st.sampled_from(tuple(QUERIES)))
    def follow(self, name: str) -> None:
        gone = any(now != "a" and name in READERS_OF_A[table] for table, now in self.read.items())
        id_ = store.stream_table(self.own, name).id
        try:
            while changed := changed_shapes(self.own, [id_]):
                follow_ddl(self.own, changed)
        except SourceChanged:
            assert gone, f"{name} reads nothing that is gone"
            return
        assert not gone, f"{name} reads a column that is gone"
        self.compare(name)

    def compare(self, name: str) -> None:
        with self.own.transaction(force_rollback=True):
            stored = prepare(self.own, store.stream_table(self.own, name)).table.defining_query
        query = QUERIES[name].format(**self.names)
        for first, second in ((query, stored), (stored, query)):
            assert self.execute(f"({first}) EXCEPT ALL ({second})") == [], name

    def teardown(self) -> None:
        try:
            self.bring_back()
            for name in QUERIES:
                self.follow(name)
        finally:
            self.own.close()
            self.user.close()


def test_random_ddl(create_database: Callable[[str], str], installed_template: str) -> None:
    def made() -> str:
        return create_database(installed_template)

    run_state_machine_as_test(
        type("Machine", (Followed,), {"make": staticmethod(made)}),
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            database=None,
            phases=(Phase.generate,),  # a database for each try: to cut down takes too long
        ),
    )
