"""Health: what is wrong is found, each check by a fault of its own; a sound database is silent."""

from __future__ import annotations

import json

import psycopg
import pytest

from pgstream.database.connection import connect
from pgstream.monitor.health import Finding, find_faults
from pgstream.schedule.locks import announce_worker
from pgstream.settings import Settings

OWNER = "pgs_test_owner"
QUERY = "SELECT g, count(*) AS n FROM t GROUP BY g"


@pytest.fixture
def sound(owner: psycopg.Connection, database) -> psycopg.Connection:
    """A stream table that is fresh, and a worker."""
    owner.execute("CREATE TABLE t (id int PRIMARY KEY, g int)")
    owner.execute("SELECT pgstream.create_stream_table('st', %s)", (QUERY,))
    owner.execute(
        "UPDATE pgstream.pgs_stream_tables"
        " SET status = 'ACTIVE', is_populated = true, data_timestamp = now()"
    )
    announce_worker(database.connect(OWNER))
    return owner


def faults(database, **settings) -> list[Finding]:
    with connect(database.dsn_as(OWNER)) as own, own.transaction():
        return find_faults(own, Settings(**settings))


def only(database, **settings) -> Finding:
    found = faults(database, **settings)
    assert len(found) == 1, found
    return found[0]


def test_a_sound_database_is_silent(sound, database, bob):
    assert faults(database) == []
    assert bob.execute("SELECT * FROM pgstream.health_check()").fetchall() == []  # for everybody


def test_no_worker(owner, database):
    owner.execute("CREATE TABLE t (id int PRIMARY KEY, g int)")
    assert faults(database) == []  # and nothing for it to do
    owner.execute("SELECT pgstream.create_stream_table('st', %s)", (QUERY,))
    found = only(database)
    assert (found.check, found.severity) == ("workers", "warning")


@pytest.mark.parametrize(
    ("change", "check", "severity", "subject", "says"),
    [
        ("status = 'ERROR', consecutive_errors = 3, last_error = E'no\\nway'",
         "stream tables", "error", "public.st", "3 failures in a row, status ERROR: no"),
        ("consecutive_errors = 1, last_error = 'passing'",
         "stream tables", "warning", "public.st", "passing"),
        ("data_timestamp = now() - interval '1 hour'",
         "freshness", "warning", "public.st", "its schedule is 1m"),
        ("needs_reinit = true", "definitions", "warning", "public.st", "REINITIALIZE"),
        ("pgs_relid = 1", "sources", "error", "public.st", "its own table is gone"),
    ],
)  # fmt: skip
def test_what_the_catalog_shows(sound, database, change, check, severity, subject, says):
    sound.execute(f"UPDATE pgstream.pgs_stream_tables SET {change}")
    found = only(database)
    assert (found.check, found.severity, found.subject) == (check, severity, subject)
    assert says in found.message


def test_a_source_that_was_dropped(sound, database):
    sound.execute("DROP TABLE t")
    found = only(database)
    assert (found.check, found.severity, found.subject) == ("sources", "error", "public.st")


@pytest.mark.parametrize(
    ("break_it", "says"),
    [
        ("ALTER TABLE t DISABLE TRIGGER __pgs_capture_update_{}", "trigger_disabled (update)"),
        ("ALTER TABLE t ENABLE REPLICA TRIGGER __pgs_capture_insert_{}",
         "trigger_disabled (insert)"),
        ("DROP TRIGGER __pgs_capture_truncate_{} ON t", "trigger_missing (truncate)"),
        ("DROP TABLE pgstream_changes.changes_{}", "buffer_missing"),
    ],
)  # fmt: skip
def test_capture_that_misses_writes(sound, database, break_it, says):
    relid = sound.execute("SELECT 't'::regclass::oid::int8").fetchone()[0]
    sound.execute(break_it.format(relid))
    found = only(database)
    assert (found.check, found.severity, found.subject) == ("capture", "error", "public.t")
    assert found.message == says
    rows = sound.execute("SELECT source_table, cdc_mode, alert FROM pgstream.check_cdc_health()")
    assert rows.fetchall() == [("public.t", "TRIGGER", says)]


def test_buffers_that_grow(sound, database, bob):
    sound.execute("INSERT INTO t SELECT i, i % 3 FROM generate_series(1, 300) i")
    assert faults(database, buffer_warning_rows=300) == []
    found = only(database, buffer_warning_rows=299)
    assert (found.check, found.severity, found.subject) == ("buffers", "warning", "public.t")
    assert "public.st (ACTIVE)" in (found.hint or "")
    sizes = "SELECT source_table, pending_rows, buffer_bytes > 0, readers FROM"
    row = bob.execute(f"{sizes} pgstream.change_buffer_sizes()").fetchone()
    assert row == ("public.t", 300, True, ["public.st"])


def test_slots(sound, database):
    admin = database.connect()
    if admin.execute("SHOW wal_level").fetchone() != ("logical",):
        pytest.skip("this server does not decode")
    name = f"slot_{admin.info.dbname}"
    assert sound.execute("SELECT * FROM pgstream.slot_health()").fetchall() == []
    sound.execute("UPDATE pgstream.pgs_dependencies SET cdc_mode = 'WAL', slot_name = %s", (name,))
    found = only(database)
    assert (found.check, found.severity, found.subject) == ("slots", "error", name)
    assert found.message == "replication_slot_missing"
    health = "SELECT slot_name, active, retained_wal_bytes, wal_status FROM pgstream.slot_health()"
    assert sound.execute(health).fetchall() == [(name, False, None, "missing")]
    admin.execute("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", (name,))
    try:
        assert faults(database) == []
        admin.execute("CREATE TABLE bulk AS SELECT repeat('x', 1000) FROM generate_series(1, 2000)")
        found = only(database, slot_lag_warning_mb=1)
        assert (found.severity, found.message) == ("warning", "slot_lag_exceeds_threshold")
        row = sound.execute(health).fetchone()
        assert row[:2] == (name, False)
        assert row[2] > 1_000_000
        assert row[3] == "reserved"
        lag = "SELECT slot_name, lag_bytes > 1000000, confirmed_lsn::pg_lsn > '0/0'"
        lags = sound.execute(f"{lag} FROM pgstream.check_cdc_health()").fetchall()
        assert lags == [(name, True, True)]
    finally:
        admin.execute("SELECT pg_drop_replication_slot(%s)", (name,))


def test_a_trigger_that_would_fail_refreshes(sound, database):
    sound.execute(
        "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';"
        "CREATE TRIGGER b BEFORE INSERT ON st FOR EACH ROW EXECUTE FUNCTION f()"
    )
    found = only(database)
    assert (found.check, found.severity, found.subject) == ("user triggers", "error", "public.st")
    assert faults(database, user_triggers="off") == []


def test_lookups_without_an_index(sound, database):
    item = [{"property": "Missing Index", "value": 'CREATE INDEX ON "public"."t" ("g", "id2")'}]
    sound.execute("UPDATE pgstream.pgs_stream_tables SET explanation = %s", (json.dumps(item),))
    found = only(database)
    assert (found.check, found.severity, found.hint) == ("indexes", "warning", item[0]["value"])
    sound.execute("CREATE INDEX ON t (g)")
    assert faults(database) == []


def test_why_a_source_stays_on_triggers(sound, database, bob):
    """It is the role that runs pgstream whose rights count, whoever asks."""
    found = only(database, cdc_mode="auto")
    assert (found.check, found.severity, found.subject) == ("wal", "notice", "public.t")
    assert found.message.startswith("its changes are captured by triggers, not from the WAL: ")
    assert f"role {OWNER} may not" in found.message or "wal_level" in found.message
    assert found.hint
    assert faults(database, cdc_mode="wal") == []  # there a refresh fails
    bob.execute("SET pg_stream.cdc_mode = 'auto'")
    query = "SELECT message, hint FROM pgstream.health_check()"
    assert bob.execute(query).fetchall() == [(found.message, found.hint)]


def test_the_worst_comes_first(sound, database):
    sound.execute("CREATE TABLE u (id int)")
    sound.execute("SELECT pgstream.create_stream_table('other', 'SELECT id FROM u')")
    sound.execute("UPDATE pgstream.pgs_stream_tables SET needs_reinit = true")
    sound.execute("DROP TABLE t")
    found = [each.severity for each in faults(database, cdc_mode="auto")]
    assert found == ["error", "warning", "warning", "notice"]
