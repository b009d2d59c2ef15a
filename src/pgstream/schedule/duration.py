"""Durations as in schedules: '30s', '5m', '1h30m', '2d'. The twin of pgstream._duration."""

from __future__ import annotations

import re
from datetime import timedelta

_UNITS = ("weeks", "days", "hours", "minutes", "seconds")
_PATTERN = re.compile(
    "".join(rf"(?:(?P<{unit}>[0-9]{{1,9}}){unit[0]})?" for unit in _UNITS), re.ASCII
)


def duration(text: str | None) -> timedelta | None:
    """The duration that a schedule is; None for CALCULATED and for a cron expression.

    >>> duration("1h30m").total_seconds()
    5400.0
    """
    found = _PATTERN.fullmatch(text) if text else None
    if found is None:
        return None
    try:
        return timedelta(**{unit: int(n) for unit, n in found.groupdict().items() if n})
    except OverflowError:  # PostgreSQL takes 999999999w
        return timedelta.max
