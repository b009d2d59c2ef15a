"""What PostgreSQL accepts as a schedule, the worker understands; the rest is refused."""

from __future__ import annotations

import random
from datetime import UTC, datetime

import pytest
from cronsim import CronSim, CronSimError

from pgstream.schedule.cron import next_time
from pgstream.schedule.schedules import Calculated, Cron, Duration, OnChange, schedule_of

CRON = (
    "* * * * *",
    "*/5 * * * *",
    "0 6 * * 1-5",
    "0 6 * * mon-fri",
    "1,2,30-40/3 */2 1 jan,Mar-jun sun",
    "0 */5 * * * *",
    "30 0 0 1 1 *",
    "5/10 * * * *",
    "0 0 * * 7",
    *("@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@ANNUALLY"),
)
REFUSED = (
    *(
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * * 13 *",
        "* * * * 8",
        "* * * *",
        "1 2 3 4 5 6 7",
    ),
    *("*/0 * * * *", "5-1 * * * *", "fri * * * *", "* * * * fri-sun", "@often", "a", "? * * * *"),
    *("", "on", "on changes", "changed", "5", "0s", "1h 5m", "* * * * mon-xyz", "1-2-3 * * * *"),
)


def stored(owner, text):
    return owner.execute("SELECT pgstream._check_schedule(%s)", (text,)).fetchone()[0]


@pytest.mark.parametrize("text", CRON)
def test_cron_expressions(owner, text):
    schedule = schedule_of(stored(owner, text))
    assert schedule == Cron(text)
    assert next_time(text, datetime(2026, 1, 1, tzinfo=UTC), "UTC") is not None


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused(owner, text):
    with pytest.raises(Exception, match=r"neither a duration nor a cron|shorter than"):
        stored(owner, text)


def test_the_other_kinds(owner):
    assert isinstance(schedule_of(stored(owner, " 5m ")), Duration)
    assert isinstance(schedule_of(stored(owner, "On  Change")), OnChange)
    assert isinstance(schedule_of(stored(owner, "calculated")), Calculated)


def test_postgres_and_the_library_agree_on_random_fields(owner):
    chance = random.Random(14)
    for _ in range(300):
        text = " ".join(random_field(chance) for _ in range(chance.choice((5, 6))))
        ours = owner.execute("SELECT pgstream._is_cron(%s)", (text,)).fetchone()[0]
        assert ours == is_known(text), text


def random_field(chance):
    if chance.random() < 0.5:
        return "*"
    number = lambda: chance.choice(("0", "1", "5", "12", "23", "28", "31", "59", "sun", "may"))  # noqa: E731
    item = chance.choice((number(), f"{number()}-{number()}", f"*/{number()}", f"{number()}/2"))
    return item if chance.random() < 0.8 else f"{item},{number()}"


def is_known(text):
    try:
        CronSim(text, datetime(2026, 1, 1))
    except CronSimError as error:
        return "day-of-month" in str(error) and is_known(without_day(text))
    return True


def without_day(text):
    """A day that no month has is accepted; it never comes."""
    fields = text.split()
    day = fields[-3]
    fields[-3], fields[-2] = day, "1"
    return " ".join(fields) if fields != text.split() else "none"


def test_full_mode_cannot_follow_changes(owner):
    owner.execute("CREATE TABLE t (id int PRIMARY KEY)")
    with pytest.raises(Exception, match="FULL mode cannot be refreshed on change"):
        owner.execute(
            "SELECT pgstream.create_stream_table('st', 'SELECT id FROM t', 'on change', 'FULL')"
        )
    owner.execute("SELECT pgstream.create_stream_table('st', 'SELECT id FROM t', 'on change')")
    with pytest.raises(Exception, match="FULL mode cannot be refreshed on change"):
        owner.execute("SELECT pgstream.alter_stream_table('st', refresh_mode => 'FULL')")
    owner.execute(
        "SELECT pgstream.alter_stream_table('st', schedule => '@hourly', refresh_mode => 'FULL')"
    )
    with pytest.raises(Exception, match="FULL mode cannot be refreshed on change"):
        owner.execute("SELECT pgstream.alter_stream_table('st', schedule => 'on change')")
