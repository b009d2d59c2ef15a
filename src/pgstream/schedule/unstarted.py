"""Unstarted: refreshes that failed before they had a history. Somebody may wait for it."""

from __future__ import annotations

from collections.abc import Iterable

from pgstream.catalog import store
from pgstream.catalog.records import Initiator, StreamTable
from pgstream.database.connection import Connection
from pgstream.errors import PgStreamError
from pgstream.monitor.alerts import refresh_failed, send


def write_unstarted(
    connection: Connection,
    tables: Iterable[StreamTable],
    initiator: Initiator,
    error: PgStreamError,
) -> None:
    for table in tables:
        attempts = store.start_history(connection, [table.id], initiator)
        store.fail_history(connection, attempts.values(), str(error))
        send(connection, refresh_failed(table.full_name, error))
