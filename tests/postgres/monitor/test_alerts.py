"""Alerts arrive as JSON when what they tell is committed."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from pgstream.catalog import store
from pgstream.catalog.records import Action, Initiator, RefreshResult
from pgstream.database.connection import connect
from pgstream.engine.spark.session import Sessions
from pgstream.errors import RefreshError, SourceChanged
from pgstream.monitor.alerts import refresh_completed, refresh_failed, send
from pgstream.refresh.refresher import Refresher
from pgstream.schedule.watch import Watch
from pgstream.settings import Settings

OWNER = "pgs_test_owner"


@pytest.fixture
def listener(database) -> psycopg.Connection:
    conn = database.connect()
    conn.execute("LISTEN pg_stream_alert")
    return conn


def heard(listener: psycopg.Connection) -> list[dict[str, Any]]:
    listener.execute("SELECT")
    return [json.loads(note.payload) for note in listener.notifies(timeout=0.2)]


@pytest.fixture
def own(database, owner):
    owner.execute("CREATE TABLE t (id int PRIMARY KEY, g int)")
    owner.execute(
        "SELECT pgstream.create_stream_table('st', 'SELECT id, g FROM t', initialize => false)"
    )
    with connect(database.dsn_as(OWNER)) as own:
        yield own


def test_an_alert_comes_with_the_commit(own, listener):
    result = RefreshResult("public.st", Action.FULL, "asked for", rows_inserted=2, apply_ms=1.25)
    with own.transaction():
        send(own, refresh_completed(result))
        assert heard(listener) == []
    (alert,) = heard(listener)
    assert next(iter(alert)) == "event"
    assert alert["event"] == "refresh_completed"
    assert (alert["stream_table"], alert["action"]) == ("public.st", "FULL")
    assert (alert["rows_inserted"], alert["ms"]) == (2, 1.2)


def test_a_long_message_is_cut(own, listener):
    send(own, refresh_failed("public.st", RefreshError("ä" * 9000)))
    (alert,) = heard(listener)
    assert alert["message"] == "ä" * 1000
    assert alert["transient"] is False


def test_a_failure_and_what_follows_from_it(own, listener, database):
    own.execute("DROP TABLE public.t")
    refresher = Refresher(database.dsn_as(OWNER), Sessions(Settings()), Settings())
    try:
        with pytest.raises(SourceChanged):
            refresher.refresh(store.stream_table(own, "st"), Initiator.MANUAL)
    finally:
        refresher.close()
    failed, suspended = heard(listener)
    assert (failed["event"], failed["code"]) == ("refresh_failed", "PGS-0405")
    assert (suspended["event"], suspended["stream_table"]) == ("auto_suspended", "public.st")
    assert suspended["errors"] == 1
    own.execute("SELECT pgstream.alter_stream_table('st', status => 'ACTIVE')")
    assert heard(listener) == [{"event": "resumed", "stream_table": "public.st"}]
    own.execute("SELECT pgstream.alter_stream_table('st', status => 'ACTIVE')")
    assert heard(listener) == []


def test_what_a_worker_notices_is_told_once(own, listener):
    row = own.execute("SELECT now()").fetchone()
    assert row is not None
    now, watch = row[0], Watch()
    settings = Settings(buffer_warning_rows=10)

    def look(later: timedelta = timedelta(0), behind: float = 0) -> list[tuple[str, str]]:
        tables = store.stream_tables(own)
        late = {table.id: behind for table in tables if behind}
        watch.look(own, tables, settings, now + later, late)
        alerts = heard(listener)
        whose = ("stream_table", "source_table", "slot_name")
        return [(a["event"], *(a[name] for name in whose if name in a)) for a in alerts]

    assert look() == []
    assert look(behind=12.5) == [("scheduler_falling_behind", "public.st")]
    assert look(behind=13.5) == []
    own.execute("UPDATE pgstream.pgs_stream_tables SET needs_reinit = true")
    assert look() == [("reinitialize_needed", "public.st")]
    assert look() == []
    own.execute(
        "UPDATE pgstream.pgs_stream_tables SET needs_reinit = false, data_timestamp = now()"
    )
    assert look() == []
    assert look(timedelta(seconds=130)) == [("stale_data", "public.st")]
    own.execute("INSERT INTO public.t SELECT i, i FROM generate_series(1, 300) i")
    assert look(timedelta(seconds=131)) == []  # buffers are looked at once a minute
    assert look(timedelta(seconds=260)) == [("buffer_growth_warning", "public.t")]
    own.execute("UPDATE pgstream.pgs_dependencies SET cdc_mode = 'WAL', slot_name = 'gone'")
    assert look(timedelta(seconds=330)) == [("slot_lag_warning", "gone")]
