"""From the WAL back to triggers: one full refresh, and nobody's write fails for long."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from psycopg import errors

from pgstream.capture.wal.drain import drain
from pgstream.capture.wal.ingest import ingest
from pgstream.capture.wal.slot import insert_lsn
from pgstream.errors import CaptureLost, WalUnavailable
from pgstream.schedule.keeper import Keeper, Scene
from pgstream.settings import Settings
from wal_capture import (
    REPLICATOR,
    mode,
    needs_reinit,
    pass_time,
    settled,
    slots,
    triggers,
)

pytestmark = pytest.mark.postgres

ALICE = "pgs_test_alice"


@pytest.fixture
def by_wal(t, replica):
    settled(t)
    assert mode(t, "t") == "WAL"
    replica.populate()
    t.execute(
        "UPDATE pgstream.pgs_stream_tables SET frontier = jsonb_build_object('sources', '{}')"
    )
    return t


def test_a_slot_that_is_dropped_by_hand(by_wal, replica):
    by_wal.execute("INSERT INTO t VALUES (1, 'lost')")
    by_wal.execute("SELECT pg_drop_replication_slot(pgstream._slot_name())")
    settled(by_wal, "trigger")
    assert (mode(by_wal, "t"), triggers(by_wal, "t")) == ("TRIGGER", 4)
    assert needs_reinit(by_wal) == [(True, True)]
    replica.populate()  # as the full refresh does
    by_wal.execute("INSERT INTO t VALUES (2, 'captured')")
    assert replica.refresh() == 1


def test_after_a_slot_was_lost_the_wal_is_used_again(by_wal, replica):
    by_wal.execute("SELECT pg_drop_replication_slot(pgstream._slot_name())")
    settled(by_wal)
    settled(by_wal)
    pass_time(by_wal, "1 day")
    settled(by_wal)
    assert mode(by_wal, "t") == "WAL"
    replica.populate()
    by_wal.execute("INSERT INTO t VALUES (2, 'captured')")
    assert replica.refresh() == 1


def test_a_slot_that_was_made_again_by_hand(by_wal):
    by_wal.execute("SELECT pg_drop_replication_slot(pgstream._slot_name())")
    by_wal.execute("INSERT INTO t VALUES (1, 'lost')")
    by_wal.execute("SELECT pg_create_logical_replication_slot(pgstream._slot_name(), 'pgoutput')")
    settled(by_wal, "trigger")
    assert needs_reinit(by_wal) == [(True, True)]


def test_a_slot_that_somebody_else_has_read(by_wal):
    by_wal.execute("INSERT INTO t VALUES (1, 'lost')")
    by_wal.execute(
        "SELECT FROM pg_logical_slot_get_binary_changes(pgstream._slot_name(), NULL, NULL,"
        " 'proto_version', '1', 'publication_names', 'pg_stream_publication')"
    )
    settled(by_wal, "auto")
    assert needs_reinit(by_wal) == [(True, True)]


def test_a_slot_that_is_lost_between_the_snapshot_and_decoding(by_wal, replica):
    by_wal.execute("SELECT pg_drop_replication_slot(pgstream._slot_name())")
    with pytest.raises(CaptureLost, match=r"the replication slot .* is gone"):
        replica.refresh()
    assert (mode(by_wal, "t"), triggers(by_wal, "t")) == ("TRIGGER", 4)
    assert needs_reinit(by_wal) == [(True, True)]


def test_a_publication_that_is_dropped_by_hand(by_wal, replica):
    by_wal.execute("DROP PUBLICATION pg_stream_publication")
    by_wal.execute("INSERT INTO t VALUES (1, 'lost')")
    with pytest.raises(CaptureLost, match="the publication pg_stream_publication is gone"):
        replica.refresh()
    assert needs_reinit(by_wal) == [(True, True)]


def test_a_table_that_is_taken_out_of_the_publication_by_hand(by_wal, replica):
    by_wal.execute("ALTER PUBLICATION pg_stream_publication DROP TABLE t")
    by_wal.execute("INSERT INTO t VALUES (1, 'lost')")
    with pytest.raises(CaptureLost, match=r"public\.t is no longer published"):
        replica.refresh()
    assert needs_reinit(by_wal) == [(True, True)]


def test_a_table_that_was_taken_out_of_the_publication_and_put_back(by_wal):
    by_wal.execute("ALTER PUBLICATION pg_stream_publication DROP TABLE t")
    by_wal.execute("INSERT INTO t VALUES (1, 'lost')")
    by_wal.execute("ALTER PUBLICATION pg_stream_publication ADD TABLE t")
    settled(by_wal, "auto")
    assert needs_reinit(by_wal) == [(True, True)]


def test_a_publication_that_leaves_something_out(by_wal):
    by_wal.execute("ALTER PUBLICATION pg_stream_publication SET (publish = 'insert')")
    settled(by_wal, "auto")
    assert needs_reinit(by_wal) == [(True, True)]


def test_a_replica_identity_that_was_not_full_for_a_while(by_wal, replica):
    by_wal.execute("ALTER TABLE t ADD PRIMARY KEY (id)")
    by_wal.execute("INSERT INTO t VALUES (1, 'a')")
    by_wal.execute("ALTER TABLE t REPLICA IDENTITY DEFAULT")
    by_wal.execute("UPDATE t SET v = 'b'")
    by_wal.execute("ALTER TABLE t REPLICA IDENTITY FULL")
    with pytest.raises(CaptureLost, match=r"the REPLICA IDENTITY of public\.t"):
        replica.refresh()
    assert (mode(by_wal, "t"), triggers(by_wal, "t")) == ("TRIGGER", 4)


@pytest.mark.parametrize(
    ("change", "since", "says"),
    [
        ("REPLICA IDENTITY NOTHING", 0, "REPLICA IDENTITY is not FULL"),
        ("REPLICA IDENTITY DEFAULT", 0, "REPLICA IDENTITY is not FULL"),
        ("ADD w int GENERATED ALWAYS AS (id + 1) VIRTUAL", 180000, "a generated column"),
    ],
)
@pytest.mark.parametrize("who", ["refresh", "worker", "decoder"])
def test_a_table_that_may_not_be_published_any_more(by_wal, replica, change, since, says, who):
    """Without event triggers, which need a superuser, its writes fail until somebody looks."""
    if by_wal.info.server_version < since:
        pytest.skip("virtual columns are new in PostgreSQL 18")
    by_wal.execute("INSERT INTO t VALUES (1, 'a')")
    tick = keeper_of(by_wal)
    by_wal.execute(f"ALTER TABLE t {change}")
    with pytest.raises(errors.Error, match="cannot update table"):
        by_wal.execute("UPDATE t SET v = 'b'")
    ((severity, message),) = by_wal.execute(
        "SELECT severity, message FROM pgstream.health_check() WHERE subject = 'public.t'"
    ).fetchall()
    assert severity == "error"
    assert says in message
    if who == "decoder":
        with pytest.raises(CaptureLost, match=says):
            drain(by_wal)
    elif who == "worker":
        tick()
    else:
        settled(by_wal, "auto")
    by_wal.execute("UPDATE t SET v = 'b'")
    assert (mode(by_wal, "t"), triggers(by_wal, "t")) == ("TRIGGER", 4)
    assert needs_reinit(by_wal) == [(True, True)]


def keeper_of(conn):
    """What a worker does at each tick. It has begun, so what it does seldom is not due."""
    keeper, scene = Keeper("", print), Scene((), Settings(), datetime.now(UTC))
    keeper.work(conn, scene)
    return lambda: keeper.work(conn, scene)


def test_a_worker_waits_for_nobody_who_writes_to_such_a_table(by_wal, wal_database):
    late, tick = wal_database.connect(REPLICATOR, autocommit=False), keeper_of(by_wal)
    by_wal.execute("ALTER TABLE t REPLICA IDENTITY NOTHING")
    late.execute("INSERT INTO t VALUES (1, 'late')")
    tick()
    assert mode(by_wal, "t") == "WAL"
    late.commit()
    tick()
    by_wal.execute("UPDATE t SET v = 'b'")
    assert mode(by_wal, "t") == "TRIGGER"


def test_health_says_that_nothing_notices_at_once(by_wal, wal_database):
    """As long as there are no event triggers."""
    query = "SELECT severity, hint FROM pgstream.health_check() WHERE check_name = 'publication'"
    ((severity, hint),) = by_wal.execute(query).fetchall()
    assert severity == "notice"
    assert "Let a superuser run pgstream init" in hint
    wal_database.connect().execute("SELECT pgstream._create_event_triggers()")
    assert by_wal.execute(query).fetchall() == []


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE t RENAME v TO w",
        "ALTER TABLE t DROP v",
        "ALTER TABLE t ALTER id TYPE bigint",
    ],
)
def test_columns_that_have_changed(by_wal, replica, change):
    by_wal.execute(change)
    by_wal.execute("INSERT INTO t (id) VALUES (1)")
    with pytest.raises(CaptureLost, match=r"the columns of public\.t have changed"):
        ingest(by_wal, insert_lsn(by_wal))
    assert (mode(by_wal, "t"), triggers(by_wal, "t")) == ("TRIGGER", 4)
    assert needs_reinit(by_wal) == [(True, True)]
    by_wal.execute("INSERT INTO t (id) VALUES (2)")


def test_a_child_that_inherits_from_it(by_wal, replica):
    """Its rows are among those of the source, and it is not published."""
    by_wal.execute("CREATE TABLE child () INHERITS (t)")
    by_wal.execute("INSERT INTO child VALUES (1, 'a')")
    with pytest.raises(CaptureLost, match=r"public\.t has got inheritance children"):
        replica.refresh()
    assert mode(by_wal, "t") == "TRIGGER"
    replica.populate()
    by_wal.execute("INSERT INTO child VALUES (2, 'b')")
    assert replica.refresh() == 1
    with pytest.raises(WalUnavailable) as caught:
        settled(by_wal)
    assert "it has inheritance children" in caught.value.detail


def test_a_new_column_is_left_out(by_wal, replica):
    by_wal.execute("ALTER TABLE t ADD more int DEFAULT 7")
    by_wal.execute("INSERT INTO t VALUES (1, 'a', 2)")
    ingest(by_wal, insert_lsn(by_wal))
    assert mode(by_wal, "t") == "WAL"


def test_triggers_that_cannot_be_installed_yet(by_wal, replica, wal_database):
    late = wal_database.connect(REPLICATOR, autocommit=False)
    late.execute("INSERT INTO t VALUES (1, 'late')")
    by_wal.execute("SELECT pg_drop_replication_slot(pgstream._slot_name())")
    with pytest.raises(CaptureLost, match="the replication slot") as caught:
        settled(by_wal)
    assert "while a transaction writes to the table" in caught.value.detail
    assert mode(by_wal, "t") == "WAL"
    late.commit()
    settled(by_wal, "trigger")
    assert (mode(by_wal, "t"), triggers(by_wal, "t")) == ("TRIGGER", 4)


# --- ends -----------------------------------------------------------------------------------


def test_the_slot_ends_with_the_last_stream_table(by_wal):
    by_wal.execute("SELECT pgstream.drop_stream_table('st_0')")
    assert slots(by_wal) == []
    assert by_wal.execute("SELECT count(*) FROM pgstream.pgs_wal").fetchone() == (0,)
    by_wal.execute("ALTER TABLE t REPLICA IDENTITY NOTHING")
    by_wal.execute("UPDATE t SET v = 'x'")  # it is no longer published


def test_a_drop_that_is_rolled_back_costs_a_full_refresh(by_wal):
    by_wal.execute("BEGIN")
    by_wal.execute("SELECT pgstream.drop_stream_table('st_0')")
    by_wal.execute("ROLLBACK")
    settled(by_wal, "auto")
    assert needs_reinit(by_wal) == [(True, True)]


def test_the_slot_ends_with_the_setting(by_wal):
    settled(by_wal, "trigger")
    assert slots(by_wal) == []


def test_the_slot_stays_while_another_source_needs_it(by_wal):
    by_wal.execute("CREATE TABLE u (id int); ALTER TABLE u REPLICA IDENTITY FULL")
    by_wal.execute("SELECT pgstream.create_stream_table('st_1', 'TABLE u', '1h', 'AUTO', false)")
    by_wal.execute("UPDATE pgstream.pgs_stream_tables SET is_populated = true")
    settled(by_wal)
    assert mode(by_wal, "u") == "WAL"
    by_wal.execute("SELECT pgstream.drop_stream_table('st_0')")
    assert len(slots(by_wal)) == 1


def test_a_source_that_is_dropped(by_wal):
    by_wal.execute("DROP TABLE t CASCADE")
    settled(by_wal)
    ingest(by_wal, insert_lsn(by_wal))


def test_nobody_else_may_do_any_of_this(by_wal, wal_database):
    alice = wal_database.connect(ALICE)
    for call in (
        "_switch_to_wal('t'::regclass)",
        "_fall_back_to_triggers('t'::regclass, '')",
        "_set_cdc_mode('t'::regclass, 'WAL', '')",
        "_unpublish('t'::regclass, '', '')",
        "_drop_triggers('t'::regclass)",
        "_drop_unused_slot()",
        "_create_publication()",
    ):
        with pytest.raises(errors.InsufficientPrivilege):
            alice.execute(f"SELECT pgstream.{call}")
