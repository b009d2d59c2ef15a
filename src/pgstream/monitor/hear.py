"""Hear alerts: the other end of `alerts.send`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from time import monotonic
from typing import Any

from pgstream.database.connection import Connection

UNKNOWN = "unknown"


def listen(connection: Connection) -> None:
    connection.execute("LISTEN pg_stream_alert")


def heard(connection: Connection, timeout: float | None = None) -> Iterator[dict[str, Any]]:
    """What is told from `listen` on, until so many seconds have passed."""
    end = None if timeout is None else monotonic() + timeout
    while True:
        left = None if end is None else max(0.0, end - monotonic())
        # As a list: the driver's iterator keeps the connection locked until it ends.
        for note in list(connection.notifies(timeout=left, stop_after=1)):
            yield read(note.payload)
        if end is not None and monotonic() >= end:
            return


def read(payload: str) -> dict[str, Any]:
    """Whoever may connect may NOTIFY: what is none of ours is told as it is."""
    try:
        alert = json.loads(payload)
    except ValueError:
        alert = None
    if isinstance(alert, dict) and isinstance(alert.get("event"), str):
        return alert
    return {"event": UNKNOWN, "message": payload}
