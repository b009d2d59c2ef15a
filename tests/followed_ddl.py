"""Random DDL that is followed as a refresh does, without Spark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psycopg.conninfo import make_conninfo

from pgstream.catalog import store
from pgstream.catalog.records import StreamTable
from pgstream.catalog.shapes import changed_shapes
from pgstream.database.connection import connect, connect_as_user
from pgstream.errors import SourceChanged
from pgstream.refresh.follow_ddl import follow_ddl
from random_ddl import SETUP, RandomDdl

OWNER = "pgs_test_owner"


class FollowedDdl(RandomDdl):
    """`user` writes, `own` is pgstream's."""

    def __init__(self) -> None:
        super().__init__()
        dsn = make_conninfo(self.make(), user=OWNER)
        self.user = connect_as_user(dsn)
        self.own = connect(dsn, autocommit=True)
        self.execute(SETUP)

    def execute(self, statement: str) -> Sequence[tuple[Any, ...]]:
        cursor = self.user.execute(statement)
        return cursor.fetchall() if cursor.description else []

    def followed(self, name: str, lacks: bool) -> StreamTable | None:
        """The stream table, once nothing that it reads differs; None if it lacks a column."""
        id_ = store.stream_table(self.own, name).id
        try:
            while changed := changed_shapes(self.own, [id_]):
                follow_ddl(self.own, changed)
        except SourceChanged:
            assert lacks, f"{name} reads nothing that is gone"
            return None
        assert not lacks, f"{name} reads a column that is gone"
        return store.stream_table(self.own, name)

    def close(self) -> None:
        self.own.close()
        self.user.close()
