"""Waits after failures."""

from datetime import UTC, datetime, timedelta

from pgstream.schedule.retry import Retries

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def wait_of(retries: Retries, id_: int) -> int:
    """Whole seconds until it is tried again."""
    return next(s for s in range(10_000) if id_ not in retries.waiting(after(s)))


def test_waits_double_up_to_the_period() -> None:
    retries, waits = Retries(lambda: 0.0), []
    for _ in range(8):
        retries.failed(1, NOW, MINUTE)
        waits.append(wait_of(retries, 1))
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]


def test_a_short_period_is_the_longest_wait() -> None:
    retries = Retries(lambda: 0.0)
    for _ in range(3):
        retries.failed(1, NOW, timedelta(seconds=2))
    assert wait_of(retries, 1) == 2


def test_without_a_period_the_wait_is_at_most_a_minute() -> None:
    retries = Retries(lambda: 0.0)
    for _ in range(20):
        retries.failed(1, NOW, None)
    assert wait_of(retries, 1) == 60


def test_success_ends_the_wait() -> None:
    retries = Retries(lambda: 0.0)
    retries.failed(1, NOW, MINUTE)
    retries.failed(2, NOW, MINUTE)
    retries.succeeded(1)
    assert retries.waiting(NOW) == {2}
    retries.failed(1, NOW, MINUTE)
    assert wait_of(retries, 1) == 1


def test_waits_are_shortened_by_chance() -> None:
    retries = Retries(lambda: 0.5)
    for _ in range(4):
        retries.failed(1, NOW, MINUTE)
    assert retries.next_end(NOW) == after(6)
    assert retries.next_end(after(6)) is None
