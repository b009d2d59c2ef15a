"""Canonical periods: 48·2ⁿ seconds, counted from the epoch.

Each multiple of a long period is one of all shorter ones. So where tables of different schedules
read each other, the slower ones are refreshed together with the faster ones, and their data is of
one moment.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

BASE = timedelta(seconds=48)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def canonical(length: timedelta) -> timedelta:
    """The largest canonical period that is not longer; n is negative below 48 s.

    >>> [canonical(timedelta(seconds=s)).total_seconds() for s in (60, 300, 10)]
    [48.0, 192.0, 6.0]
    """
    return BASE * 2.0 ** math.floor(math.log2(length / BASE))


def next_multiple(after: datetime, period: timedelta) -> datetime:
    """The first multiple of the period, from the epoch on, that is later."""
    return EPOCH + ((after - EPOCH) // period + 1) * period
