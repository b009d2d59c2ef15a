"""await_refreshes: waits for stream tables that others refresh, as a client does that listens."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from pgstream.client import PgStream
from pgstream.database.connection import Connection, connect
from pgstream.errors import WaitTimeout

PATIENCE_SECONDS = 120.0


class Listener:
    """Hears of refreshes that have changed rows, when they are committed."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        connection.execute("LISTEN pgstream_refresh")

    def forget(self) -> None:
        """What was told before does not count."""
        list(self.connection.notifies(timeout=0))

    def wait_for(self, names: Collection[str]) -> None:
        """Until each of them has been refreshed."""
        missing, end = set(names), time.monotonic() + PATIENCE_SECONDS
        while missing:
            left = end - time.monotonic()
            notes = list(self.connection.notifies(timeout=max(left, 0), stop_after=1))
            missing -= {note.payload for note in notes}
            if not notes:
                raise WaitTimeout(f"{sorted(missing)[0]} is not refreshed.")


@contextmanager
def listener(stream: PgStream) -> Iterator[Listener]:
    with connect(stream.dsn, application_name="pgstream bench") as connection:
        yield Listener(connection)
