"""Texts of schedules, canonical periods and cron expressions."""

from datetime import UTC, datetime, timedelta

import pytest

from pgstream.schedule.canonical import canonical, next_multiple
from pgstream.schedule.connected import connected
from pgstream.schedule.cron import next_time
from pgstream.schedule.schedules import Calculated, Cron, Duration, OnChange, schedule_of


def test_kinds() -> None:
    assert schedule_of(None) == Calculated()
    assert schedule_of("on change") == OnChange()
    assert schedule_of("90s") == Duration(timedelta(seconds=90))
    assert schedule_of("@hourly") == Cron("@hourly")


@pytest.mark.parametrize(
    ("seconds", "period"),
    [(48, 48), (60, 48), (96, 96), (300, 192), (3600, 3072), (47, 24), (1, 0.75)],
)
def test_canonical_periods(seconds: float, period: float) -> None:
    assert canonical(timedelta(seconds=seconds)) == timedelta(seconds=period)


def test_each_multiple_of_a_long_period_is_one_of_all_shorter_ones() -> None:
    after = datetime(2026, 1, 1, 12, 0, 7, tzinfo=UTC)
    long = next_multiple(after, timedelta(seconds=3072))
    before = long - timedelta(seconds=1)
    assert {next_multiple(before, timedelta(seconds=48 * 2**n)) for n in range(7)} == {long}
    assert next_multiple(long, timedelta(seconds=48)) == long + timedelta(seconds=48)


@pytest.mark.parametrize(
    ("expression", "after", "zone", "found"),
    [
        ("*/5 * * * *", "2026-01-01T12:00:01+00:00", "UTC", "2026-01-01T12:05:00+00:00"),
        ("*/10 * * * * *", "2026-01-01T12:00:01+00:00", "UTC", "2026-01-01T12:00:10+00:00"),
        ("0 6 * * *", "2026-01-01T05:30:00+00:00", "Europe/Berlin", "2026-01-02T05:00:00+00:00"),
        ("@monthly", "2026-01-01T00:00:00+00:00", "UTC", "2026-02-01T00:00:00+00:00"),
        # The hour that is missing in spring, and the one that comes twice in autumn.
        ("30 2 * * *", "2026-03-29T00:00:00+00:00", "Europe/Berlin", "2026-03-29T01:00:00+00:00"),
        ("30 2 * * *", "2026-10-25T00:30:00+00:00", "Europe/Berlin", "2026-10-26T01:30:00+00:00"),
        ("0 0 30 2 *", "2026-01-01T00:00:00+00:00", "UTC", None),
    ],
)
def test_times_of_cron_expressions(
    expression: str, after: str, zone: str, found: str | None
) -> None:
    time = next_time(expression, datetime.fromisoformat(after), zone)
    assert time == (datetime.fromisoformat(found) if found else None)


def test_connected_sets() -> None:
    assert connected({}) == []
    assert connected({1: {1}, 2: {2}, 3: {1, 2}, 4: {4}}) == [[1, 2, 3], [4]]
