"""Random DDL on a database of PostgreSQL alone, without Spark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psycopg.conninfo import make_conninfo

from pgstream.database.connection import connect, connect_as_user
from random_ddl import SETUP, RandomDdl

OWNER = "pgs_test_owner"


class ConnectedDdl(RandomDdl):
    """`user` writes, `own` is pgstream's."""

    def __init__(self) -> None:
        super().__init__()
        self.dsn = make_conninfo(self.make(), user=OWNER)
        self.user = connect_as_user(self.dsn)
        self.own = connect(self.dsn, autocommit=True)
        self.execute(SETUP)

    def execute(self, statement: str) -> Sequence[tuple[Any, ...]]:
        cursor = self.user.execute(statement)
        return cursor.fetchall() if cursor.description else []

    def close(self) -> None:
        self.own.close()
        self.user.close()
