"""Random DDL: the stored queries mean what the user's mean, or something that they read is gone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule

from followed_ddl import FollowedDdl
from pgstream.compile.prepare import prepare
from random_ddl import QUERIES, play

pytestmark = pytest.mark.postgres

EXAMPLES, STEPS = 8, 50


class Queries(FollowedDdl):
    readers = tuple(QUERIES)

    def __init__(self) -> None:
        super().__init__()
        for name, query in QUERIES.items():
            text = query.format(**self.names)
            self.execute(f"SELECT pgstream.create_stream_table('{name}', '{text}')")

    @rule(name=st.sampled_from(readers))
    def refresh(self, name: str) -> None:
        table = self.followed(name, self.lacks(name))
        if table is not None:
            with self.own.transaction(force_rollback=True):
                stored = prepare(self.own, table).table.defining_query
            self.assert_same(name, stored)


def test_random_queries(create_database: Callable[[str], str], installed_template: str) -> None:
    play(Queries, lambda: create_database(installed_template), EXAMPLES, STEPS)
