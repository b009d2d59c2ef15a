"""Cron expressions: of five fields, of six with seconds first, or a word such as @hourly.

Which times match is asked of cronsim, which follows Debian's cron, also where clocks are put
forward or back. Its fields hold lists, ranges, steps and names.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

WORDS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}


@lru_cache(maxsize=4096)
def next_time(expression: str, after: datetime, zone: str) -> datetime | None:
    """The first time after `after` that matches; None if none does, such as on February 30.

    >>> next_time("0 6 * * mon-fri", datetime(2026, 1, 2, 12, tzinfo=UTC), "UTC").isoformat()
    '2026-01-05T06:00:00+00:00'
    """
    fields = WORDS.get(expression.lower(), expression)
    try:
        found = next(CronSim(fields, after.astimezone(ZoneInfo(zone))), None)
    except CronSimError:
        return None
    return None if found is None else found.astimezone(UTC)
