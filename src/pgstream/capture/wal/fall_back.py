"""fall_back: triggers capture sources again, and their readers start from whole tables."""

from __future__ import annotations

from collections.abc import Iterable

import psycopg
from psycopg import errors

from pgstream.errors import CaptureLost

LOCK_MILLISECONDS = 500
"""Below deadlock_timeout: whoever waits for us is never the one that PostgreSQL ends."""


def fall_back(connection: psycopg.Connection, relids: Iterable[int], reason: str) -> None:
    """In one order, so that two sessions do not wait for each other."""
    for relid in sorted(relids):
        try:
            with connection.transaction():
                limit_waiting(connection)
                connection.execute(
                    "SELECT pgstream._fall_back_to_triggers(%s::bigint::oid, %s)", (relid, reason)
                )
        except errors.LockNotAvailable as error:
            raise CaptureLost(
                f"Changes in the WAL are lost: {reason}.",
                detail="Triggers cannot be installed while a transaction writes to the table.",
                hint="Refresh again when it has ended.",
            ) from error


def limit_waiting(connection: psycopg.Connection) -> None:
    """For locks, in this transaction: others queue behind whoever waits for a table."""
    connection.execute("SELECT set_config('lock_timeout', %s, true)", (str(LOCK_MILLISECONDS),))
