"""Interruption: by which another thread ends a refresh, whatever it waits for."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable

from pgstream.errors import RefreshTimeout

_numbers = itertools.count(1)


class Interruption:
    """Of one refresh. Once it is over, nobody interrupts what is done to end it well."""

    def __init__(self) -> None:
        self.tag = f"pgstream-{next(_numbers)}"
        """Of its jobs on Spark."""
        self._asked = self._over = False
        self._lock = threading.Lock()

    @property
    def is_asked(self) -> bool:
        return self._asked

    def ask(self, ways: Iterable[Callable[[], object]]) -> bool:
        """By all of these ways; whether the refresh was still going on."""
        with self._lock:
            if self._over:
                return False
            self._asked = True
            for way in ways:
                way()
            return True

    def over(self) -> None:
        with self._lock:
            self._over = True

    def check(self) -> None:
        """Where nothing is waited for that could be interrupted."""
        if self._asked:
            raise timeout()


def timeout() -> RefreshTimeout:
    return RefreshTimeout(
        "The refresh was cancelled.",
        hint="It took longer than refresh_timeout, or its worker was told to end.",
    )
