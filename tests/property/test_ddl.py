"""Random DDL, writes and refreshes on three tables: no write fails because of us, and all that can
be computed is exact. PostgreSQL says what is right.

    pytest tests/property/test_ddl.py --hypothesis-seed=<printed>   the same steps again
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import rule, run_state_machine_as_test

from helpers import open_stream
from pgstream.database.embedded import EmbeddedServer
from pgstream.engine.spark.session import Sessions
from pgstream.errors import SourceChanged
from pgstream.settings import Settings
from random_ddl import QUERIES, READERS_OF_A, SETUP, RandomDdl

EXAMPLES, STEPS = 10, 50
SETTINGS = Settings(differential_max_change_ratio=0.0, min_schedule_seconds=1)


class Refreshed(RandomDdl):
    open: Callable[[], Any]

    def __init__(self) -> None:
        super().__init__()
        self.opened = self.open()
        self.ps = self.opened.__enter__()
        self.ps.execute(SETUP)
        for name, query in QUERIES.items():
            self.ps.create_stream_table(name, query.format(**self.names))

    def execute(self, statement: str) -> Sequence[tuple[Any, ...]]:
        rows: Sequence[tuple[Any, ...]] = self.ps.execute(statement)
        return rows

    @rule(name=st.sampled_from(tuple(QUERIES)))
    def refresh(self, name: str) -> None:
        gone = any(now != "a" and name in READERS_OF_A[table] for table, now in self.read.items())
        try:
            self.ps.refresh_stream_table(name)
        except SourceChanged:
            assert gone, f"{name} reads nothing that is gone"
            return
        assert not gone, f"{name} reads a column that is gone"
        self.compare(name)

    def compare(self, name: str) -> None:
        query = QUERIES[name].format(**self.names)
        stored = f"SELECT {', '.join(self.ps.table(name).columns)} FROM {name}"
        for first, second in ((query, stored), (stored, query)):
            assert self.execute(f"({first}) EXCEPT ALL ({second})") == [], name

    def teardown(self) -> None:
        try:
            self.bring_back()
            for name in QUERIES:
                self.refresh(name)
        finally:
            self.opened.__exit__(None, None, None)


def test_ddl(server: EmbeddedServer, make_database: Callable[[], str], sessions: Sessions) -> None:
    def opened() -> Any:
        return open_stream(server.dsn_for(make_database()), sessions, SETTINGS)

    run_state_machine_as_test(
        type("Machine", (Refreshed,), {"open": staticmethod(opened)}),
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            database=None,
            phases=(Phase.generate,),  # a database for each try: to cut down takes too long
        ),
    )
