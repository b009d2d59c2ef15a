"""Random DDL, writes and refreshes on three tables: no write fails because of us, and all that can
be computed is exact. PostgreSQL says what is right. Triggers capture, or the WAL where it can.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from helpers import open_stream
from pgstream.client import PgStream
from pgstream.database.embedded import EmbeddedServer
from pgstream.engine.spark.session import Sessions
from pgstream.errors import CaptureLost, SourceChanged
from pgstream.settings import Settings
from random_ddl import QUERIES, SETUP, RandomDdl, play

EXAMPLES, STEPS = 12, 50
SETTINGS = Settings(differential_max_change_ratio=0.0, min_schedule_seconds=1)


class Refreshed(RandomDdl):
    readers = tuple(QUERIES)
    sessions: Sessions

    def __init__(self) -> None:
        super().__init__()
        self.opened = ExitStack()
        self.ps: PgStream = self.opened.enter_context(
            open_stream(self.make(), self.sessions, SETTINGS)
        )
        self.ps.execute(SETUP)
        self.ps.execute("ALTER TABLE plain REPLICA IDENTITY FULL")

    @initialize(cdc_mode=st.sampled_from(("trigger", "auto")))
    def create(self, cdc_mode: str) -> None:
        self.ps.refresher.settings = replace(SETTINGS, cdc_mode=cdc_mode)
        for name, query in QUERIES.items():
            self.ps.create_stream_table(name, query.format(**self.names))

    def execute(self, statement: str) -> Sequence[tuple[Any, ...]]:
        rows: Sequence[tuple[Any, ...]] = self.ps.execute(statement)
        return rows

    @rule(name=st.sampled_from(readers))
    def refresh(self, name: str) -> None:
        try:
            self.attempt(name)
        except SourceChanged:
            assert self.lacks(name), f"{name} reads nothing that is gone"
            return
        assert not self.lacks(name), f"{name} reads a column that is gone"
        self.assert_same(name, f"SELECT {', '.join(self.ps.table(name).columns)} FROM {name}")

    def attempt(self, name: str) -> None:
        """Once more if what the WAL held is lost: then triggers have taken over."""
        try:
            self.ps.refresh_stream_table(name)
        except CaptureLost:
            self.ps.refresh_stream_table(name)

    def close(self) -> None:
        self.ps.execute(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots"
            " WHERE database = current_database()"
        )
        self.opened.close()


def test_ddl(server: EmbeddedServer, make_database: Callable[[], str], sessions: Sessions) -> None:
    Refreshed.sessions = sessions
    played = play(Refreshed, lambda: server.dsn_for(make_database()), EXAMPLES, STEPS)
    assert played >= 500
