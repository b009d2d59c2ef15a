"""Random DDL and writes: what was there, and the changes in the buffer, are what is there; else a
refresh knows that it must start again. No write fails because of us.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis.stateful import rule

from connected_ddl import ConnectedDdl
from pgstream.database.connection import connect
from pgstream.errors import SourceChanged
from played_reader import PlayedReader
from random_ddl import play, tables

pytestmark = pytest.mark.postgres

EXAMPLES, STEPS = 8, 60


class Changes(ConnectedDdl):
    readers = ("plain", "parts", "tree")

    def __init__(self) -> None:
        super().__init__()
        self.snapshots = connect(self.dsn, autocommit=True)
        self.played: dict[str, PlayedReader] = {}
        for table in self.readers:
            name = f"of_{table}"
            self.execute(
                f"SELECT pgstream.create_stream_table('{name}', 'SELECT id, a FROM {table}')"
            )
            self.played[table] = PlayedReader(self.snapshots, self.own, name, ("id", "a"))
            self.refresh(table)

    @rule(name=tables)
    def refresh(self, name: str) -> None:
        lacks = self.read.get(name, "a") != "a"
        try:
            self.played[name].refresh()
        except SourceChanged:
            assert lacks, f"{name} reads nothing that is gone"
            return
        assert not lacks, f"{name} reads a column that is gone"

    def close(self) -> None:
        self.snapshots.close()
        super().close()


def test_random_ddl(create_database: Callable[[str], str], installed_template: str) -> None:
    play(Changes, lambda: create_database(installed_template), EXAMPLES, STEPS)
