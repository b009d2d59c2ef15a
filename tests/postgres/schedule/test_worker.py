"""A worker's round beside its refreshes: alerts and upkeep."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest

from background import until
from pgstream.database.connection import connect
from pgstream.engine.spark.session import Sessions
from pgstream.schedule.events import Event
from pgstream.schedule.worker import Worker
from pgstream.settings import Settings
from scheduled import REFRESHED

OWNER = "pgs_test_owner"


@pytest.fixture
def heard() -> list[Event]:
    return []


@pytest.fixture
def worker(owner, database, heard):
    """With nothing to refresh, and a buffer of 300 changes that cancel out."""
    owner.execute("CREATE TABLE t (id int PRIMARY KEY)")
    owner.execute(
        "SELECT pgstream.create_stream_table('st', 'SELECT id FROM t', initialize => false)"
    )
    owner.execute("INSERT INTO t SELECT generate_series(1, 150)")
    owner.execute("DELETE FROM t")
    settings = Settings(buffer_compact_rows=200)
    worker = Worker(database.dsn_as(OWNER), Sessions(settings), heard.append, settings)
    worker.open()
    yield worker
    worker.close()


def test_a_round_keeps_buffers_short(worker, heard, owner):
    worker.tick()
    assert [event.line for event in heard] == ["300 changes of public.t cancel out and are deleted"]
    assert owner.execute("SELECT pending_rows FROM pgstream.change_buffer_sizes()").fetchall() == [
        (0,)
    ]


def test_upkeep_that_fails_is_told_once_and_stops_nothing(worker, heard, owner):
    relid = owner.execute("SELECT 't'::regclass::oid::int8").fetchone()[0]
    owner.execute(f"ALTER TABLE pgstream_changes.changes_{relid} DROP COLUMN __pgs_change_id")
    worker.tick()
    worker.tick()
    assert [event.kind for event in heard] == ["notice"]
    assert heard[0].line.startswith("upkeep failed: ")
    assert "__pgs_change_id" in heard[0].line


def test_settings_of_the_database_arrive_when_it_is_told_to_reload(owner, database, heard):
    worker = Worker(database.dsn_as(OWNER), Sessions(Settings()), heard.append)
    thread = threading.Thread(target=worker.run)
    worker.open()
    thread.start()
    try:
        name = owner.info.dbname
        admin = database.connect()
        admin.execute(f"ALTER DATABASE {name} SET pg_stream.max_concurrent_refreshes = 7")
        worker.reload()
        until(lambda: worker.settings.max_concurrent_refreshes == 7)
        assert worker.is_alive
        assert worker.is_ready
    finally:
        worker.stop()
        thread.join()
    assert not worker.is_ready
    assert [event.kind for event in heard] == ["reloaded"]


def test_a_worker_s_statement_ends_with_the_worker(database):
    with connect(database.dsn_as(OWNER)) as connection:
        row = connection.execute("SHOW client_connection_check_interval").fetchone()
    assert row == ("1s",)


def test_all_that_has_no_changes_is_noted_at_once(owner, database, heard):
    owner.execute("CREATE TABLE t (id int PRIMARY KEY)")
    for number in range(3):
        owner.execute(
            "SELECT pgstream.create_stream_table(%s, 'SELECT id FROM t', '1m',"
            " initialize => false)",
            (f"st_{number}",),
        )
    owner.execute(REFRESHED, (["st_0", "st_1", "st_2"],))
    ahead = lambda: datetime.now(UTC) + timedelta(hours=1)  # noqa: E731
    settings = Settings()
    dsn = database.dsn_as(OWNER)
    worker = Worker(dsn, Sessions(settings), heard.append, settings, clock=ahead)
    worker.open()
    try:
        worker.tick()
    finally:
        worker.close()
    assert [event.line for event in heard] == ["3 stream tables have no changes"]
    noted = owner.execute(
        "SELECT action, status, initiated_by FROM pgstream.pgs_refresh_history"
    ).fetchall()
    assert noted == [("NO_DATA", "COMPLETED", "SCHEDULER")] * 3
