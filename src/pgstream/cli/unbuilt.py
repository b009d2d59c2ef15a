"""Names the stream tables that could not be built, and why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pgstream.cli.output import say


def say_unbuilt(rows: Iterable[dict[str, Any]]) -> None:
    """For each row of pgs_status() without a result whose build has failed."""
    for row in rows:
        if row["last_error"] and not row["is_populated"]:
            reason = row["last_error"].splitlines()[0]
            say(f"{row['name']} was never populated: {reason}")
