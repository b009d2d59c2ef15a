"""After a failure a table waits before it is tried again: 1 s, 2 s, 4 s … up to its period.

Each wait is shortened by up to a half, by chance, so that tables that failed together, and workers
that failed together, do not come back together.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime, timedelta

_FIRST = timedelta(seconds=1)
_LONGEST = timedelta(minutes=1)
"""For tables without a period."""


class Retries:
    """Who waits until when. In memory: a new worker tries everybody at once."""

    def __init__(self, chance: Callable[[], float] = random.random) -> None:
        self._chance = chance
        self._waits: dict[int, timedelta] = {}
        self._until: dict[int, datetime] = {}

    def failed(self, id_: int, now: datetime, period: timedelta | None) -> None:
        doubled = 2 * self._waits[id_] if id_ in self._waits else _FIRST
        self._waits[id_] = min(doubled, period or _LONGEST)
        self._until[id_] = now + self._waits[id_] * (1 - self._chance() / 2)

    def succeeded(self, id_: int) -> None:
        self._waits.pop(id_, None)
        self._until.pop(id_, None)

    def waiting(self, now: datetime) -> frozenset[int]:
        return frozenset(id_ for id_, until in self._until.items() if now < until)

    def next_end(self, now: datetime) -> datetime | None:
        """When the first of the waits is over."""
        return min((until for until in self._until.values() if now < until), default=None)
