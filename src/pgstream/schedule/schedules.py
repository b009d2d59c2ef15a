"""Schedules: what the text of a schedule means. The twin of pgstream._check_schedule.

| text | kind |
|---|---|
| '5m', '1h30m' | Duration: data is at most that old |
| '*/5 * * * *', '@hourly' | Cron: refreshed when the clock says so |
| 'on change' | OnChange: refreshed when a transaction on a source has committed |
| NULL | Calculated: as fresh as those who read it need it |
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache

from pgstream.schedule.duration import duration

ON_CHANGE = "on change"


@dataclass(frozen=True, slots=True)
class Duration:
    length: timedelta


@dataclass(frozen=True, slots=True)
class Cron:
    expression: str


@dataclass(frozen=True, slots=True)
class OnChange:
    pass


@dataclass(frozen=True, slots=True)
class Calculated:
    pass


Schedule = Duration | Cron | OnChange | Calculated


@lru_cache(maxsize=4096)
def schedule_of(text: str | None) -> Schedule:
    """Of a text that PostgreSQL has accepted.

    >>> schedule_of("1h30m")
    Duration(length=datetime.timedelta(seconds=5400))
    """
    if text is None:
        return Calculated()
    if text == ON_CHANGE:
        return OnChange()
    length = duration(text)
    return Cron(text) if length is None else Duration(length)
