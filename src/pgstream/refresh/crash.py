"""Crash points: PGSTREAM_CRASH_AT names a step at which the process kills itself.

For tests of recovery: the kill is SIGKILL, so nothing gets a chance to clean up.
"""

from __future__ import annotations

import os
import signal

STEPS = ("lock", "snapshot", "changes", "decide", "compute", "apply", "clean")


def crash_point(step: str) -> None:
    if os.environ.get("PGSTREAM_CRASH_AT") == step:
        os.kill(os.getpid(), signal.SIGKILL)
