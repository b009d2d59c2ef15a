"""Connections of the executors to PostgreSQL, through ADBC.

ADBC reads the server's types whenever it opens a database, which costs more than a small slice.
A worker process of Spark's lives on from task to task, so it opens each database once. What it
keeps is the types; each task has a connection of its own. Types made later are no loss: only
built-in ones travel as they are.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any


class _StaysOpen:
    """What a connection closes instead of its database."""

    def close(self) -> None: ...


def connect(dsn: str) -> Any:
    from adbc_driver_manager import AdbcConnection
    from adbc_driver_manager.dbapi import Connection

    database: Any = _StaysOpen()
    return Connection(database, AdbcConnection(_database(dsn)))


@lru_cache(maxsize=16)
def _database(dsn: str) -> Any:
    import adbc_driver_postgresql

    return adbc_driver_postgresql.connect(dsn)
