"""From triggers to the WAL: nothing is lost, nothing comes twice, nobody's write fails."""

from __future__ import annotations

import json
import threading

import pytest
from psycopg import errors

from pgstream.capture.wal.ingest import ingest
from pgstream.capture.wal.slot import insert_lsn, make_slot
from pgstream.capture.wal.transition import begin, switch
from pgstream.errors import CaptureLost, WalUnavailable
from wal_capture import (
    REPLICATOR,
    Replica,
    end_rest,
    mode,
    needs_reinit,
    oid,
    pass_time,
    read_by,
    settled,
    slots,
    triggers,
)

pytestmark = pytest.mark.postgres

ALICE = "pgs_test_alice"


def test_the_setting_decides(t):
    settled(t, "trigger")
    assert (mode(t, "t"), triggers(t, "t"), slots(t)) == ("TRIGGER", 4, [])
    settled(t, "auto")
    assert (mode(t, "t"), triggers(t, "t")) == ("WAL", 0)
    assert slots(t) == [t.execute("SELECT pgstream._slot_name()").fetchone()[0]]
    assert needs_reinit(t) == [(False, False)]


def test_not_before_the_stream_table_holds_a_result(t):
    t.execute("UPDATE pgstream.pgs_stream_tables SET is_populated = false")
    settled(t)
    assert mode(t, "t") == "TRIGGER"


def test_what_triggers_captured_before_is_still_seen(t, replica):
    t.execute("INSERT INTO t VALUES (1, 'by trigger')")
    settled(t)
    t.execute("INSERT INTO t VALUES (2, 'by WAL')")
    assert replica.refresh() == 2
    assert replica.refresh() == 0


def test_each_step_may_be_the_last_before_a_kill(t, replica):
    """After each, a change is captured, and the next refresh goes on from there."""
    relid = oid(t, "t")
    steps = [
        lambda: begin(t, relid),
        lambda: t.execute("SELECT pgstream._create_publication()"),
        lambda: t.execute(
            "SELECT pg_create_logical_replication_slot(pgstream._slot_name(), 'pgoutput')"
        ),
        lambda: make_slot(t, 10_000),
        lambda: switch(t, relid),
    ]
    for number, step in enumerate(steps):
        step()
        t.execute("INSERT INTO t VALUES (%s, 'x')", (number,))
        assert replica.refresh() == 1
        assert mode(t, "t") == ("WAL" if number == 4 else "TRANSITIONING")


@pytest.mark.parametrize("done", range(5))
def test_the_next_refresh_goes_on_after_a_kill(t, replica, done):
    relid = oid(t, "t")
    steps = [
        lambda: begin(t, relid),
        lambda: t.execute("SELECT pgstream._create_publication()"),
        lambda: t.execute(
            "SELECT pg_create_logical_replication_slot(pgstream._slot_name(), 'pgoutput')"
        ),
        lambda: make_slot(t, 10_000),
    ]
    for step in steps[:done]:
        step()
    t.execute("INSERT INTO t VALUES (1, 'x')")
    settled(t)
    assert mode(t, "t") == "WAL"
    t.execute("UPDATE t SET v = 'y'")
    assert replica.refresh() == 3


def test_while_eight_write(t, replica, wal_database):
    """Who writes during the switch is told by one way or the other."""
    stop = threading.Event()

    def write(number):
        with wal_database.connect(REPLICATOR, autocommit=False) as conn:
            while not stop.is_set():
                conn.execute("INSERT INTO t VALUES (%s, 'x')", (number,))
                conn.execute("UPDATE t SET v = v || 'y' WHERE id = %s AND v = 'x'", (number,))
                conn.commit()

    writers = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for each in writers:
        each.start()
    try:
        for _ in range(100):
            end_rest(t)
            settled(t)
            replica.refresh()
            if mode(t, "t") == "WAL":
                break
        assert mode(t, "t") == "WAL"
        replica.refresh()
    finally:
        stop.set()
        for each in writers:
            each.join()
    assert replica.refresh() >= 0


def test_a_transaction_that_has_written_is_waited_for_and_not_split(t, replica, wal_database):
    late = wal_database.connect(REPLICATOR, autocommit=False)
    late.execute("INSERT INTO t VALUES (1, 'late')")
    settled(t)
    assert mode(t, "t") == "TRANSITIONING"
    late.execute("INSERT INTO t VALUES (2, 'late')")
    assert replica.refresh() == 0
    late.commit()
    assert replica.refresh() == 2
    settled(t)
    assert mode(t, "t") == "TRANSITIONING"  # it rests for a while
    pass_time(t, "5 s")
    settled(t)
    assert mode(t, "t") == "WAL"
    assert replica.refresh() == 0


def test_somebody_who_reads_and_then_writes_is_not_hurt(t, replica, wal_database):
    settled(t)
    user = wal_database.connect(REPLICATOR, autocommit=False)
    settled(t, "trigger")
    user.execute("SELECT count(*) FROM t")
    settled(t)  # waits for the reader in vain
    assert mode(t, "t") == "TRANSITIONING" or triggers(t, "t") == 4
    user.execute("INSERT INTO t VALUES (1, 'a')")
    user.commit()


def test_the_transition_ends_after_its_time(t, wal_database):
    late = wal_database.connect(REPLICATOR, autocommit=False)
    late.execute("INSERT INTO t VALUES (1, 'late')")
    settled(t, "auto", timeout=10)
    pass_time(t, "11 s")
    settled(t, "auto", timeout=10)
    assert (mode(t, "t"), triggers(t, "t")) == ("TRIGGER", 4)
    late.rollback()
    settled(t, "auto", timeout=10)
    assert mode(t, "t") == "TRIGGER"  # it rests
    pass_time(t, "10 s")
    settled(t, "auto", timeout=10)
    assert mode(t, "t") == "WAL"


def test_in_wal_mode_the_end_of_its_time_is_an_error(t, wal_database):
    late = wal_database.connect(REPLICATOR, autocommit=False)
    late.execute("INSERT INTO t VALUES (1, 'late')")
    settled(t, timeout=10)
    pass_time(t, "11 s")
    with pytest.raises(WalUnavailable, match="not done in 10 seconds"):
        settled(t, timeout=10)


def is_quiet(conn, cdc_mode="auto"):
    """Whether a worker leaves the stream table alone, though it may be one on change."""
    conn.execute(
        "UPDATE pgstream.pgs_stream_tables SET frontier = jsonb_build_object('sources',"
        " jsonb_build_object('t'::regclass::oid, jsonb_build_object("
        "'snapshot', pg_current_snapshot())))"
    )
    ((found,),) = conn.execute(
        "SELECT cardinality(pgstream._quiet(array_agg(pgs_id), %s))"
        " FROM pgstream.pgs_stream_tables",
        (cdc_mode,),
    ).fetchall()
    return bool(found)


def test_a_transition_that_waits_rests_ever_longer(t, wal_database):
    late = wal_database.connect(REPLICATOR, autocommit=False)
    late.execute("INSERT INTO t VALUES (1, 'late')")
    assert (is_quiet(t), is_quiet(t, "trigger")) == (False, True)
    settled(t, "auto")
    assert mode(t, "t") == "TRANSITIONING"
    assert (is_quiet(t), is_quiet(t, "wal"), is_quiet(t, "trigger")) == (True, True, False)
    pass_time(t, "60 s")
    assert (is_quiet(t), is_quiet(t, "wal")) == (False, False)
    settled(t, "auto")
    assert mode(t, "t") == "TRANSITIONING"
    pass_time(t, "50 s")
    assert is_quiet(t)
    pass_time(t, "50 s")
    assert not is_quiet(t)


def test_a_transition_that_fails_rests_for_twice_its_time(t, wal_database):
    admin = wal_database.connect()
    admin.execute("CREATE PUBLICATION pg_stream_publication FOR ALL TABLES")
    with pytest.raises(WalUnavailable) as caught:
        settled(t, "wal", timeout=100)
    assert "publication" in caught.value.detail
    assert (mode(t, "t"), triggers(t, "t")) == ("TRIGGER", 4)
    for _ in range(3):
        settled(t, "wal", timeout=100)  # not tried, so it does not fail
    assert is_quiet(t)
    admin.execute("DROP PUBLICATION pg_stream_publication")
    pass_time(t, "190 s")
    assert is_quiet(t)
    pass_time(t, "10 s")
    assert not is_quiet(t)
    settled(t, "auto", timeout=100)
    assert mode(t, "t") == "WAL"


def test_listeners_are_told(t, wal_database):
    listener = wal_database.connect()
    listener.execute("LISTEN pg_stream_cdc_transition")
    listener.execute("LISTEN pg_stream_alert")
    settled(t)
    settled(t, "trigger")
    told = [(n.channel, json.loads(n.payload)) for n in listener.notifies(timeout=5, stop_after=5)]
    slot = t.execute("SELECT pgstream._slot_name()").fetchone()[0]
    assert told[1] == (
        "pg_stream_cdc_transition",
        {
            "event": "transition_complete",
            "source_table": "public.t",
            "old_mode": "TRANSITIONING",
            "new_mode": "WAL",
            "slot_name": slot,
        },
    )
    assert [(channel, payload["event"]) for channel, payload in told] == [
        ("pg_stream_cdc_transition", "transition_started"),
        ("pg_stream_cdc_transition", "transition_complete"),
        ("pg_stream_alert", "cdc_transition_complete"),
        ("pg_stream_cdc_transition", "transition_failed"),
        ("pg_stream_alert", "cdc_transition_failed"),
    ]
    assert told[4][1]["reason"] == "cdc_mode is trigger"


def test_a_second_stream_table_on_the_same_source(t):
    settled(t)
    t.execute(
        "SELECT pgstream.create_stream_table('st_2', 'SELECT id FROM t', '1h', 'AUTO', false)"
    )
    assert triggers(t, "t") == 0
    modes = t.execute("SELECT cdc_mode, slot_name IS NOT NULL FROM pgstream.pgs_dependencies")
    assert modes.fetchall() == [("WAL", True)] * 2


def test_a_partition_as_a_source(replicator, wal_database):
    conn = replicator
    conn.execute("CREATE TABLE whole (id int, v text) PARTITION BY RANGE (id)")
    conn.execute("CREATE TABLE t PARTITION OF whole FOR VALUES FROM (0) TO (10)")
    conn.execute("CREATE TABLE rest PARTITION OF whole DEFAULT")
    conn.execute("ALTER TABLE t REPLICA IDENTITY FULL")
    read_by(conn, "t")
    settled(conn)
    replica = Replica(wal_database.connect(REPLICATOR), wal_database.connect(REPLICATOR), "t")
    replica.populate()
    conn.execute("INSERT INTO whole VALUES (1, 'in'), (11, 'out')")
    assert replica.refresh() == 1
    conn.execute("UPDATE whole SET id = CASE id WHEN 1 THEN 12 ELSE 2 END")
    assert replica.refresh() == 2
    conn.execute("TRUNCATE whole")
    assert replica.actions() == ["T"]


def test_a_second_reader_of_other_columns(replicator, wal_database):
    """Rows that were decoded for the first one lack them."""
    conn = replicator
    conn.execute("CREATE TABLE t (id int, v text)")
    conn.execute("ALTER TABLE t REPLICA IDENTITY FULL")
    conn.execute(
        "SELECT pgstream.create_stream_table('st_0', 'SELECT id FROM t', '1h', 'AUTO', false)"
    )
    conn.execute("UPDATE pgstream.pgs_stream_tables SET is_populated = true")
    settled(conn)
    conn.execute("INSERT INTO t VALUES (1, 'before')")
    ingest(conn, insert_lsn(conn))
    conn.execute(
        "SELECT pgstream.create_stream_table('st_1', 'SELECT v FROM t', '1h', 'AUTO', false)"
    )
    replica = Replica(wal_database.connect(REPLICATOR), wal_database.connect(REPLICATOR), "t")
    replica.populate()
    conn.execute("INSERT INTO t VALUES (2, 'after')")
    conn.execute("UPDATE t SET v = v || '!'")
    assert replica.refresh() == 5


def test_a_second_reader_waits_for_those_who_are_writing(t, wal_database):
    t.execute("ALTER TABLE t ADD w int")
    settled(t)
    late = wal_database.connect(REPLICATOR, autocommit=False)
    late.execute("INSERT INTO t VALUES (1, 'late', 2)")
    t.execute("SET lock_timeout = '100ms'")
    create = "SELECT pgstream.create_stream_table('st_1', 'SELECT w FROM t', '1h', 'AUTO', false)"
    with pytest.raises(errors.LockNotAvailable):
        t.execute(create)
    late.commit()
    t.execute(create)
    assert triggers(t, "t") == 0


# --- what is in the way ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "problem", "way_out"),
    [
        ("ALTER TABLE t REPLICA IDENTITY DEFAULT", "REPLICA IDENTITY is not FULL", "ALTER TABLE"),
        ("ALTER TABLE t SET UNLOGGED", "it is unlogged", "SET LOGGED"),
    ],
)
def test_a_table_that_cannot_be_captured_so(t, change, problem, way_out):
    t.execute(change)
    settled(t, "auto")
    assert (mode(t, "t"), triggers(t, "t")) == ("TRIGGER", 4)
    with pytest.raises(WalUnavailable, match=r"public\.t cannot be captured") as caught:
        settled(t, "wal")
    assert problem in caught.value.detail
    assert way_out in caught.value.hint


@pytest.mark.parametrize(
    ("type_name", "problem"),
    [
        ("regclass", "of type regclass is a name in the WAL"),
        ("regtype[]", "of type regtype[] is a name in the WAL"),
        ("checked[]", "of type public.checked[] has a domain inside"),
        ("pair", "of type public.pair has a domain inside"),
        ("checked", None),
    ],
)
def test_a_type_that_cannot_be_read_from_the_wal(replicator, type_name, problem):
    conn = replicator
    conn.execute("CREATE DOMAIN checked AS int CHECK (VALUE > 0)")
    conn.execute("CREATE TYPE pair AS (a text, b checked)")
    conn.execute(f"CREATE TABLE t (id int, r {type_name})")
    conn.execute("ALTER TABLE t REPLICA IDENTITY FULL")
    conn.execute("SELECT pgstream._install_capture('t'::regclass)")
    row = conn.execute("SELECT problem FROM pgstream._wal_obstacle('t'::regclass)").fetchone()
    assert row[0] is None if problem is None else problem in row[0]


def test_a_type_that_gets_a_domain_later(replicator, wal_database):
    """From then on its texts are not read."""
    conn = replicator
    conn.execute("CREATE TYPE pair AS (a text)")
    conn.execute("CREATE TABLE t (id int, r pair)")
    conn.execute("ALTER TABLE t REPLICA IDENTITY FULL")
    read_by(conn, "t")
    settled(conn)
    assert mode(conn, "t") == "WAL"
    conn.execute("CREATE DOMAIN checked AS int CHECK (VALUE > 0)")
    conn.execute("ALTER TYPE pair ADD ATTRIBUTE b checked")
    conn.execute("INSERT INTO t VALUES (1, ROW('a', 1))")
    with pytest.raises(CaptureLost, match="has a domain inside"):
        ingest(conn, insert_lsn(conn))
    assert mode(conn, "t") == "TRIGGER"


def test_a_virtual_column_is_in_the_way(t):
    if t.info.server_version < 180000:
        pytest.skip("virtual columns are new in PostgreSQL 18")
    t.execute("ALTER TABLE t ADD w int GENERATED ALWAYS AS (id + 1) VIRTUAL")
    with pytest.raises(WalUnavailable) as caught:
        settled(t)
    assert "a generated column" in caught.value.detail
    t.execute("UPDATE t SET v = 'x'")


def test_a_table_of_somebody_else(t, wal_database):
    admin = wal_database.connect()
    admin.execute(f"CREATE TABLE theirs (id int); ALTER TABLE theirs OWNER TO {ALICE}")
    admin.execute("ALTER TABLE theirs REPLICA IDENTITY FULL")
    admin.execute(f"GRANT SELECT, TRIGGER ON theirs TO {REPLICATOR}")
    t.execute("SELECT pgstream.create_stream_table('st_1', 'TABLE theirs', '1h', 'AUTO', false)")
    with pytest.raises(WalUnavailable) as caught:
        settled(t)
    assert f"role {REPLICATOR} does not own it" in caught.value.detail
    assert f"GRANT {ALICE} TO {REPLICATOR}" in caught.value.hint


def test_a_role_without_replication(owner):
    owner.execute("CREATE TABLE t (id int)")
    owner.execute("ALTER TABLE t REPLICA IDENTITY FULL")
    read_by(owner, "t")
    settled(owner, "auto")
    assert mode(owner, "t") == "TRIGGER"
    with pytest.raises(WalUnavailable) as caught:
        settled(owner)
    assert "ALTER ROLE pgs_test_owner REPLICATION" in caught.value.hint
