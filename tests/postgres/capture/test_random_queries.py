"""Random DDL: the stored queries mean what the user's mean, or something that they read is gone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule

from connected_ddl import ConnectedDdl
from pgstream.catalog import store
from pgstream.catalog.shapes import changed_shapes
from pgstream.compile.prepare import prepare
from pgstream.errors import SourceChanged
from pgstream.refresh.follow_ddl import follow_ddl
from random_ddl import QUERIES, play

pytestmark = pytest.mark.postgres

EXAMPLES, STEPS = 8, 50


class Queries(ConnectedDdl):
    readers = tuple(QUERIES)

    def __init__(self) -> None:
        super().__init__()
        for name, query in QUERIES.items():
            text = query.format(**self.names)
            self.execute(f"SELECT pgstream.create_stream_table('{name}', '{text}')")

    @rule(name=st.sampled_from(readers))
    def refresh(self, name: str) -> None:
        id_ = store.stream_table(self.own, name).id
        try:
            while changed := changed_shapes(self.own, [id_]):
                follow_ddl(self.own, changed)
        except SourceChanged:
            assert self.lacks(name), f"{name} reads nothing that is gone"
            return
        assert not self.lacks(name), f"{name} reads a column that is gone"
        with self.own.transaction(force_rollback=True):
            stored = prepare(self.own, store.stream_table(self.own, name)).table.defining_query
        self.assert_same(name, stored)


def test_random_queries(create_database: Callable[[str], str], installed_template: str) -> None:
    play(Queries, lambda: create_database(installed_template), EXAMPLES, STEPS)
