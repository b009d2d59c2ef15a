"""Changes from the WAL are seen once each, whoever commits when, and whatever is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

from pgstream.capture.wal.drain import drain
from pgstream.capture.wal.ingest import ingest, write_decoded
from pgstream.capture.wal.slot import advance, insert_lsn, known_slot
from pgstream.database import migrate
from pgstream.engine.spark.session import Sessions
from pgstream.schedule.worker import Worker
from pgstream.settings import Settings
from wal_capture import REPLICATOR, Replica, mode, oid, settled

pytestmark = pytest.mark.postgres


@pytest.fixture
def t(t):
    """Captured from the WAL."""
    settled(t)
    assert mode(t, "t") == "WAL"
    return t


def test_what_commits_between_the_snapshot_and_decoding_waits_for_the_next_refresh(t, replica):
    """It is decoded, and in the buffer, but this snapshot does not see it."""
    t.execute("INSERT INTO t VALUES (1, 'before')")
    replica.reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    replica.reader.execute("SELECT pg_current_snapshot()")
    t.execute("INSERT INTO t VALUES (2, 'after')")
    ingest(t, insert_lsn(t))
    replica.reader.execute("ROLLBACK")
    with replica.snapshot() as buffers:
        assert len(replica.changes(buffers)) == 2
        t.execute("INSERT INTO t VALUES (3, 'later')")
        ingest(t, insert_lsn(t))
        assert len(replica.changes(buffers)) == 2
    assert replica.refresh() == 3


def test_rows_that_fire_no_trigger_are_captured(t, replica, wal_database):
    superuser = wal_database.connect()
    superuser.execute("SET session_replication_role = replica")
    superuser.execute("INSERT INTO t VALUES (1, 'applied')")
    assert replica.refresh() == 1


def test_changes_of_other_tables_are_not_read(t, replica):
    t.execute("CREATE TABLE other AS SELECT generate_series(1, 1000) AS i")
    before = known_slot(t).decoded_lsn
    assert replica.refresh() == 0
    assert known_slot(t).decoded_lsn > before
    assert confirmed(t) > before


# --- kills ----------------------------------------------------------------------------------


def test_killed_before_the_commit(t, replica, wal_database):
    """Rows and LSN go together."""
    t.execute("INSERT INTO t VALUES (1, 'a')")
    killed = wal_database.connect(REPLICATOR, autocommit=False)
    write_decoded(killed, insert_lsn(killed))
    killed.close()
    assert replica.refresh() == 1


def test_killed_between_the_commit_and_the_advance(t, replica, wal_database):
    """The slot shows the same transactions again; the LSN leaves them out."""
    t.execute("INSERT INTO t VALUES (1, 'a')")
    killed = wal_database.connect(REPLICATOR)
    write_decoded(killed, insert_lsn(killed))
    killed.close()
    t.execute("INSERT INTO t VALUES (2, 'b')")
    assert replica.refresh() == 2
    assert replica.refresh() == 0


def test_killed_after_the_advance(t, replica, wal_database):
    t.execute("INSERT INTO t VALUES (1, 'a')")
    killed = wal_database.connect(REPLICATOR)
    write_decoded(killed, insert_lsn(killed))
    advance(killed)
    killed.close()
    assert replica.refresh() == 1
    assert replica.refresh() == 0


REFRESH = """
import sys, pgstream
from pgstream.settings import Settings
settings = Settings(cdc_mode="wal")
pgstream.connect(sys.argv[1], settings=settings).refresh_stream_table("public.st_0")
"""


@pytest.mark.parametrize("step", ["lock", "snapshot", "changes", "decide"])
def test_a_refresh_that_is_killed(t, replica, wal_database, step):
    """Before the slot is decoded, and after it."""
    t.execute("INSERT INTO t VALUES (1, 'a')")
    ended = subprocess.run(
        [sys.executable, "-c", REFRESH, wal_database.dsn_as(REPLICATOR)],
        env={**os.environ, "PGSTREAM_CRASH_AT": step},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    t.execute("INSERT INTO t VALUES (2, 'b')")
    assert replica.refresh() == 2
    assert replica.refresh() == 0


def test_decoding_twice_up_to_the_same_place_writes_once(t, replica):
    t.execute("INSERT INTO t VALUES (1, 'a')")
    upto = insert_lsn(t)
    for _ in range(2):
        ingest(t, upto)
    assert replica.refresh() == 1


def test_two_readers_at_once(t, wal_database):
    """Both wait for the slot, and both find everything."""
    replicas = [
        Replica(wal_database.connect(REPLICATOR), wal_database.connect(REPLICATOR), "t")
        for _ in range(2)
    ]
    for each in replicas:
        each.populate()
    failures = []

    def follow(replica):
        try:
            for _ in range(20):
                replica.refresh()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=follow, args=(each,)) for each in replicas]
    for each in threads:
        each.start()
    for number in range(100):
        t.execute("INSERT INTO t VALUES (%s, 'x')", (number,))
    for each in threads:
        each.join()
    assert failures == []
    for each in replicas:
        each.refresh()
        assert len(each.rows) == 100


def test_the_catalog_tells_how_far_it_is(t, replica):
    t.execute("INSERT INTO t VALUES (1, 'a')")
    replica.refresh()
    row = t.execute(
        "SELECT d.decoder_confirmed_lsn = w.decoded_lsn, d.slot_name = w.slot_name"
        " FROM pgstream.pgs_dependencies d, pgstream.pgs_wal w WHERE source_relid = %s",
        (oid(t, "t"),),
    ).fetchone()
    assert row == (True, True)


# --- nobody refreshes -----------------------------------------------------------------------


def confirmed(conn):
    row = conn.execute(
        "SELECT (confirmed_flush_lsn - '0/0')::bigint FROM pg_replication_slots"
        " WHERE slot_name = pgstream._slot_name()"
    ).fetchone()
    return row and row[0]


def test_a_worker_decodes_though_nobody_refreshes(t, replica, wal_database):
    t.execute("INSERT INTO t VALUES (1, 'a')")
    end = insert_lsn(t)
    t.execute("UPDATE pgstream.pgs_stream_tables SET status = 'SUSPENDED'")
    dsn = wal_database.dsn_as(REPLICATOR)
    worker = Worker(dsn, Sessions(Settings()), settings=Settings(cdc_mode="wal"))
    worker.open()
    try:
        worker.tick()
    finally:
        worker.close()
    assert confirmed(t) >= end
    assert replica.refresh() == 1


def test_draining_drops_a_slot_that_nobody_needs(t):
    t.execute("UPDATE pgstream.pgs_change_tracking SET wal_since = NULL")
    drain(t)
    assert confirmed(t) is None
    drain(t)


def test_uninstalling_leaves_no_slot(t):
    migrate.uninstall(t)
    assert t.execute("SELECT count(*) FROM pg_publication").fetchone() == (0,)
    left = t.execute(
        "SELECT count(*) FROM pg_replication_slots WHERE database = current_database()"
    )
    assert left.fetchone() == (0,)
    t.execute("UPDATE t SET v = 'x'")
