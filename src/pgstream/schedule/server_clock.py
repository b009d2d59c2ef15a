"""The server's clock, with which all timestamps in the catalog are compared."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

from pgstream.database.connection import Connection


class ServerClock:
    """Asked from time to time; in between the time passes as it does here."""

    def __init__(self) -> None:
        self._known = datetime.now(UTC)
        self._since = time.monotonic()

    def ask(self, connection: Connection) -> None:
        row = connection.execute("SELECT clock_timestamp()").fetchone()
        assert row is not None
        self._known, self._since = row[0], time.monotonic()

    def __call__(self) -> datetime:
        return self._known + timedelta(seconds=time.monotonic() - self._since)
