"""Durations of schedules."""

from datetime import timedelta

import pytest

from pgstream.schedule.duration import duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1s", 1),
        ("30s", 30),
        ("5m", 300),
        ("1h30m", 5400),
        ("2d", 172_800),
        ("1w", 604_800),
        ("1w2d3h4m5s", 788_645),
        ("90m", 5400),
        ("0s", 0),
    ],
)
def test_durations(text: str, seconds: int) -> None:
    assert duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "text",
    [None, "", "5", "m", "m5", "1m1h", "1.5h", "-5m", "5 m", "*/5 * * * *", "@hourly", "1M", "٣s"],
)
def test_what_is_not_a_duration(text: str | None) -> None:
    assert duration(text) is None


def test_a_duration_beyond_the_calendar_never_ends() -> None:
    assert duration("999999999w") == timedelta.max
