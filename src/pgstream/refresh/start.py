"""start: what a cycle writes down before it does anything, in one transaction that ends at once.

If a crash has emptied UNLOGGED sources, their readers lose those frontiers. Refreshes that were
interrupted have failed. All see that this one is running.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgstream.catalog import store
from pgstream.catalog.records import Initiator
from pgstream.database.connection import Connection
from pgstream.engine.postgres.staging import drop_staging
from pgstream.settings import Settings


def start(
    connection: Connection, ids: Sequence[int], initiator: Initiator, settings: Settings
) -> dict[int, int]:
    """The ids of the refreshes, by table. The caller holds the tables' locks."""
    with connection.pipeline():
        connection.execute("SELECT pgstream._notice_crash()")
        interrupted = store.fail_interrupted(connection, ids)
        store.set_capture_errors(connection, settings.capture_errors)
        started = store.start_history(connection, ids, initiator)
    for dead in {id_ for (id_,) in interrupted}:
        drop_staging(connection, dead)
    return started
