"""Java greets on file descriptor 2. From the start of a command that is a file, which is shown
only when something unexpected happens; sys.stderr stays the user's."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import IO

_said: IO[bytes] | None = None


def debugging() -> bool:
    return bool(os.environ.get("PGSTREAM_DEBUG"))


def keep_children_quiet() -> None:
    global _said
    if debugging() or _said is not None:
        return
    _said = tempfile.TemporaryFile()  # noqa: SIM115 (as long as the process)
    own = os.fdopen(os.dup(2), "w", buffering=1, encoding="utf-8", errors="backslashreplace")
    os.dup2(_said.fileno(), 2)
    sys.stderr = own


def children_said(lines: int = 5) -> list[str]:
    """The end of what Java and others have written."""
    if _said is None:
        return []
    _said.seek(0)
    return _said.read().decode(errors="replace").splitlines()[-lines:]
