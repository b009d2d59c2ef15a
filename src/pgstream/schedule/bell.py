"""Bell: what a thread waits for that also waits for a connection.

Anybody may ring it, signal handlers too.
"""

from __future__ import annotations

import contextlib
import select
import socket


class Bell:
    def __init__(self) -> None:
        self._hears, self._rings = socket.socketpair()
        self._hears.setblocking(False)
        self._rings.setblocking(False)

    def ring(self) -> None:
        with contextlib.suppress(OSError):  # it is ringing already, or nobody hears it any more
            self._rings.send(b"!")

    def wait(self, seconds: float, *files: int) -> None:
        """Until it rings, one of the files can be read, or the time is over."""
        own = self._hears.fileno()
        ready, _, _ = select.select([own, *files], [], [], max(seconds, 0.0))
        if own in ready:
            with contextlib.suppress(BlockingIOError):
                self._hears.recv(4096)

    def close(self) -> None:
        self._hears.close()
        self._rings.close()
