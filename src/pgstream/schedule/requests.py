"""Requests: who has asked for a refresh in SQL and has no answer yet; who refreshes elsewhere."""

from __future__ import annotations

import time
from collections.abc import Set

from pgstream.database.connection import Connection
from pgstream.schedule.locks import Locks, look

ANSWER_SECONDS = 0.1
"""How long those who asked may take to see the answer; and how often locks are looked at, for the
sake of those who ask in a read-only transaction."""


class Requests:
    def __init__(self) -> None:
        self._locks = Locks(frozenset(), frozenset())
        self._looked = 0.0
        self._answered: dict[int, tuple[int, float]] = {}
        """By table, the number of the last request that a refresh answers, and how long those who
        had asked by then count as answered."""

    @property
    def is_old(self) -> bool:
        return time.monotonic() - self._looked >= ANSWER_SECONDS

    @property
    def busy(self) -> frozenset[int]:
        """Tables that others are refreshing."""
        return self._locks.busy

    def look(self, connection: Connection, own: Set[int]) -> None:
        """`own` are the tables that are being refreshed here."""
        found = look(connection)
        self._locks = Locks(found.requested, found.busy - own)
        self._looked = time.monotonic()

    def open(self, number: int) -> frozenset[int]:
        """Tables that somebody waits for; `number` is that of the last request of all."""
        now = time.monotonic()
        self._answered = {
            id_: (last, until)
            for id_, (last, until) in self._answered.items()
            if last == number and now < until
        }
        return self._locks.requested - self._answered.keys()

    def begun(self, id_: int, number: int) -> None:
        """A refresh has begun: it answers all who have asked by now."""
        self._answered[id_] = (number, float("inf"))

    def ended(self, id_: int) -> None:
        number, _ = self._answered.get(id_, (-1, 0.0))
        self._answered[id_] = (number, time.monotonic() + ANSWER_SECONDS)
