"""The worker: answers SQL, builds, refreshes what is due, survives failures and company."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from background import Background, until
from helpers import assert_exact
from pgstream.client import PgStream
from pgstream.database.connection import DatabaseError
from pgstream.database.connection import connect_as_user as connect
from pgstream.engine.spark.session import Sessions
from pgstream.errors import NotPopulated, PgStreamError, RefreshError
from pgstream.schedule.events import Event
from pgstream.schedule.worker import Worker
from pgstream.settings import Settings

ORDERS = """
CREATE TABLE orders (id int PRIMARY KEY, region text, amount int);
INSERT INTO orders VALUES (1, 'n', 10), (2, 'n', 20), (3, 's', 5)
"""
TOTALS = "SELECT region, sum(amount) AS total, count(*) AS n FROM orders GROUP BY region"
BIG = "SELECT region, total FROM totals WHERE total > 10"


@pytest.fixture
def worker(database: str, spark: Any, settings: Settings) -> Iterator[Background]:
    with Background(database, spark, settings) as background:
        yield background


@pytest.fixture
def still(database: str, spark: Any, settings: Settings) -> Iterator[Worker]:
    """A worker that ticks when it is told to, an hour ahead of the server's clock."""
    ahead = timedelta(hours=1)
    worker = Worker(
        database,
        Sessions(settings, spark),
        settings=settings,
        clock=lambda: datetime.now(UTC) + ahead,
    )
    worker.open()
    yield worker
    worker.close()


def create(ps: PgStream, name: str, query: str, schedule: str = "1h") -> None:
    """In SQL, so that the worker builds it."""
    ps.execute("SET pg_stream.min_schedule_seconds = 1")
    ps.execute("SELECT pgstream.create_stream_table(%s, %s, %s)", (name, query, schedule))


def wait(ps: PgStream, name: str) -> None:
    ps.execute("SELECT pgstream.wait_for_stream_table(%s)", (name,))


def history(ps: PgStream, name: str) -> list[tuple[str, str, str]]:
    return [(h["initiated_by"], h["action"], h["status"]) for h in reversed(ps.history(name, 100))]


# --- SQL ----------------------------------------------------------------------------------------


def test_builds_what_is_created_in_sql(ps: PgStream, worker: Background) -> None:
    ps.execute(ORDERS)
    create(ps, "totals", TOTALS)
    create(ps, "big", BIG)
    wait(ps, "big")
    assert_exact(ps, "totals", "big")
    assert history(ps, "totals")[0] == ("INITIAL", "FULL", "COMPLETED")
    explained = dict(ps.execute("SELECT * FROM pgstream.explain_st('totals')"))
    assert "Aggregate" in explained["Operator Tree"]


@pytest.mark.smoke("schedule", "database")
def test_answers_a_refresh_asked_for_in_sql(ps: PgStream, worker: Background) -> None:
    ps.execute(ORDERS)
    create(ps, "totals", TOTALS)
    create(ps, "big", BIG)
    wait(ps, "big")
    for number in range(4, 7):
        ps.execute("INSERT INTO orders VALUES (%s, 's', 7)", (number,))
        ps.execute("SELECT pgstream.refresh_stream_table('big')")
        assert_exact(ps, "totals", "big")
    assert ("MANUAL", "DIFFERENTIAL", "COMPLETED") in history(ps, "totals")
    assert any(line.startswith("public.big DIFFERENTIAL") for line in worker.lines("refresh"))


def test_waiting_raises_why_a_table_cannot_be_built(ps: PgStream, worker: Background) -> None:
    ps.execute(ORDERS)
    create(ps, "cut", "SELECT sum(id) OVER (ORDER BY id ROWS (SELECT 1) PRECEDING) FROM orders")
    with pytest.raises(RefreshError, match="cannot be built: A frame whose offset"):
        wait(ps, "cut")
    assert ps.table("cut").status == "ERROR"
    assert worker.lines("failure")
    with pytest.raises(RefreshError, match=r"(?s)A frame whose offset.*never populated"):
        ps.execute("SELECT pgstream.refresh_stream_table('cut')")
    with pytest.raises(NotPopulated, match=r"(?s)never populated.*A frame whose offset"):
        ps.execute("SELECT * FROM cut")


def test_a_table_may_be_read_when_it_is_built_at_last(ps: PgStream, worker: Background) -> None:
    ps.execute(ORDERS)
    ps.execute("UPDATE orders SET amount = 0 WHERE id = 3")
    create(ps, "inverse", "SELECT id, 100 / amount AS share FROM orders")
    create(ps, "reader", "SELECT sum(share) AS total FROM inverse")
    for name in ("inverse", "reader"):
        with pytest.raises(RefreshError, match="division by zero"):
            wait(ps, name)
        with pytest.raises(NotPopulated, match="division by zero"):
            ps.execute(f"SELECT * FROM {name}")
    ps.execute("UPDATE orders SET amount = 5 WHERE id = 3")
    ps.execute("SELECT pgstream.refresh_stream_table('reader')")
    assert_exact(ps, "inverse", "reader")
    ps.execute("INSERT INTO orders VALUES (4, 's', 4)")
    ps.execute("SELECT pgstream.refresh_stream_table('reader')")
    assert_exact(ps, "inverse", "reader")


def test_a_failed_refresh_is_raised_and_stops_nobody(ps: PgStream, worker: Background) -> None:
    ps.execute(ORDERS)
    create(ps, "totals", TOTALS)
    create(ps, "inverse", "SELECT id, 100 / amount AS share FROM orders")
    wait(ps, "inverse")
    ps.execute("INSERT INTO orders VALUES (4, 'n', 0)")
    with pytest.raises(RefreshError, match="division by zero"):
        ps.execute("SELECT pgstream.refresh_stream_table('inverse')")
    ps.execute("SELECT pgstream.refresh_stream_table('totals')")
    assert_exact(ps, "totals")
    ps.execute("UPDATE orders SET amount = 1 WHERE id = 4")
    ps.execute("SELECT pgstream.refresh_stream_table('inverse')")
    assert_exact(ps, "inverse")


def test_a_table_suspended_while_somebody_waits_fails_the_wait(
    ps: PgStream, database: str, still: Worker
) -> None:
    ps.execute(ORDERS)
    ps.create_stream_table("totals", TOTALS, "1h")
    outcome: list[str] = []

    def ask() -> None:
        with connect(database) as connection:
            try:
                connection.execute("SELECT pgstream.refresh_stream_table('totals')")
            except DatabaseError as error:
                outcome.append(str(error))

    asking = threading.Thread(target=ask)
    asking.start()
    until(lambda: ps.execute("SELECT 1 FROM pg_locks WHERE classid = 1885827075"))
    ps.alter_stream_table("totals", status="SUSPENDED")
    still.tick()
    asking.join(10)
    assert len(outcome) == 1
    assert "suspended" in outcome[0]


# --- schedule -----------------------------------------------------------------------------------


def test_what_is_due_is_refreshed_by_itself(ps: PgStream, worker: Background) -> None:
    ps.execute(ORDERS)
    create(ps, "totals", TOTALS, "CALCULATED")
    create(ps, "big", BIG, "1s")
    wait(ps, "big")
    ps.execute("INSERT INTO orders VALUES (4, 'w', 50)")
    until(lambda: ps.execute("SELECT 1 FROM big WHERE region = 'w'"))
    assert_exact(ps, "totals", "big")
    assert ("SCHEDULER", "DIFFERENTIAL", "COMPLETED") in history(ps, "totals")


def test_one_cycle_covers_what_a_due_table_reads(ps: PgStream, still: Worker) -> None:
    ps.execute(ORDERS)
    ps.create_stream_table("totals", TOTALS, "1m")
    ps.create_stream_table("big", BIG, "1m")
    ps.execute("INSERT INTO orders VALUES (4, 'w', 50)")
    before = {name: len(history(ps, name)) for name in ("totals", "big")}
    still.tick()
    for name in ("totals", "big"):
        assert history(ps, name)[before[name] :] == [("SCHEDULER", "DIFFERENTIAL", "COMPLETED")]
    assert_exact(ps, "totals", "big")


def test_what_is_not_due_is_left_alone(ps: PgStream, still: Worker) -> None:
    ps.execute(ORDERS)
    ps.create_stream_table("later", TOTALS, "2h")
    ps.create_stream_table("calculated", TOTALS, "CALCULATED")
    ps.create_stream_table("asleep", TOTALS, "1m")
    ps.alter_stream_table("asleep", status="SUSPENDED")
    ps.create_stream_table("by_cron", TOTALS, "0 0 29 2 *")
    ps.create_stream_table("unchanged", TOTALS, "on change")
    told: list[Event] = []
    still.report = told.append
    still.tick()
    still.tick()
    for name in ("later", "calculated", "asleep", "by_cron", "unchanged"):
        assert len(history(ps, name)) == 1, name
    assert not told


def test_disabled_it_still_builds_and_answers(
    ps: PgStream, database: str, spark: Any, settings: Settings
) -> None:
    ps.execute(ORDERS)
    ps.create_stream_table("totals", TOTALS, "1s")
    off = Settings(enabled=False, differential_max_change_ratio=0.0)
    with Background(database, spark, off):
        create(ps, "big", "SELECT region, amount FROM orders WHERE amount > 10")
        wait(ps, "big")
        ps.execute("SELECT pgstream.refresh_stream_table('big')")
    assert not [h for h in history(ps, "totals") if h[0] == "SCHEDULER"]


def test_a_failed_table_waits_before_it_is_tried_again(ps: PgStream, still: Worker) -> None:
    ps.execute(ORDERS)
    ps.create_stream_table("inverse", "SELECT id, 100 / amount AS share FROM orders", "1m")
    now = datetime.now(UTC) + timedelta(hours=1)
    still.clock = lambda: now
    ps.execute("UPDATE orders SET amount = 0 WHERE id = 1")
    for _ in range(5):
        still.tick()
    failed = ("SCHEDULER", "NO_DATA", "FAILED")
    assert history(ps, "inverse").count(failed) == 1
    now += timedelta(seconds=1)
    still.tick()
    assert history(ps, "inverse").count(failed) == 2
    now += timedelta(seconds=2)
    ps.execute("UPDATE orders SET amount = 1 WHERE id = 1")
    still.tick()
    assert history(ps, "inverse")[-1] == ("SCHEDULER", "DIFFERENTIAL", "COMPLETED")
    assert_exact(ps, "inverse")


def test_a_failure_upstream_counts_once(ps: PgStream, still: Worker) -> None:
    ps.execute(ORDERS)
    ps.create_stream_table("inverse", "SELECT id, 100 / amount AS share FROM orders", "1m")
    for number in range(3):
        ps.create_stream_table(f"reader{number}", "SELECT share FROM inverse", "1m")
    ps.execute("UPDATE orders SET amount = 0 WHERE id = 1")
    still.tick()
    assert ps.table("inverse").consecutive_errors == 1


def test_a_table_in_error_is_left_alone(ps: PgStream, still: Worker) -> None:
    ps.execute(ORDERS)
    ps.create_stream_table("inverse", "SELECT id, 100 / amount AS share FROM orders", "1m")
    ps.execute("UPDATE orders SET amount = 0 WHERE id = 1")
    now = datetime.now(UTC)
    still.clock = lambda: now
    for _ in range(6):
        now += timedelta(hours=1)
        still.tick()
    assert ps.table("inverse").status == "ERROR"
    assert still.failures == 3


def test_the_server_s_settings_are_read_at_each_tick(
    ps: PgStream, database: str, spark: Any
) -> None:
    worker = Worker(database, Sessions(Settings(), spark))
    worker.open()
    try:
        worker.connection.execute("SET pg_stream.scheduler_interval_ms = 250")
        worker.tick()
        assert worker.settings.scheduler_interval_ms == 250
        told: list[Event] = []
        worker.report = told.append
        worker.connection.execute("SET pg_stream.scheduler_interval_ms = 5")
        worker.tick()
        worker.tick()
        assert worker.settings.scheduler_interval_ms == 250
        assert [event.kind for event in told] == ["notice"]
    finally:
        worker.close()


# --- life ---------------------------------------------------------------------------------------


def test_a_lost_connection_is_opened_again(ps: PgStream, worker: Background) -> None:
    ps.execute(ORDERS)
    create(ps, "totals", TOTALS)
    wait(ps, "totals")
    ps.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND application_name LIKE 'pgstream %'"
        " AND pid <> pg_backend_pid()"
    )
    until(lambda: worker.lines("disconnected"))
    until(lambda: ps.execute("SELECT pgstream._worker_alive()")[0][0])
    ps.execute("INSERT INTO orders VALUES (4, 's', 7)")
    ps.execute("SELECT pgstream.refresh_stream_table('totals')")
    assert_exact(ps, "totals")


def test_without_a_worker_waiting_fails_at_once(ps: PgStream, worker: Background) -> None:
    ps.execute(ORDERS)
    worker.worker.stop()
    worker.thread.join()
    create(ps, "totals", TOTALS)
    with pytest.raises(PgStreamError, match="no pgstream worker"):
        wait(ps, "totals")
