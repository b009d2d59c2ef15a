"""After a failure a table waits before it is tried again: 1 s, 2 s, 4 s … up to its period."""

from __future__ import annotations

from datetime import datetime, timedelta

_FIRST = timedelta(seconds=1)
_LONGEST = timedelta(minutes=1)
"""For tables without a period: those being built."""


class Retries:
    """Who waits until when. In memory: a new worker tries everybody at once."""

    def __init__(self) -> None:
        self._waits: dict[int, timedelta] = {}
        self._until: dict[int, datetime] = {}

    def failed(self, id_: int, now: datetime, period: timedelta | None) -> None:
        doubled = 2 * self._waits[id_] if id_ in self._waits else _FIRST
        self._waits[id_] = min(doubled, period or _LONGEST)
        self._until[id_] = now + self._waits[id_]

    def succeeded(self, id_: int) -> None:
        self._waits.pop(id_, None)
        self._until.pop(id_, None)

    def waiting(self, now: datetime) -> set[int]:
        return {id_ for id_, until in self._until.items() if now < until}
