"""What happens to a writer if the buffer cannot be written."""

import psycopg
import pytest

from pgstream.capture.buffers import open_buffers
from pgstream.capture.count_changes import count_changes
from pgstream.catalog import store

pytestmark = pytest.mark.postgres

TABLES = {
    "by statement": ("CREATE TABLE t (id int)",),
    "by row": (
        "CREATE TABLE t (id int) PARTITION BY LIST (id)",
        "CREATE TABLE part PARTITION OF t DEFAULT",
    ),
}
WRITES = ("INSERT INTO t VALUES (1)", "UPDATE t SET id = 2", "DELETE FROM t", "TRUNCATE t")


@pytest.fixture(params=TABLES)
def t(owner, request):
    for statement in TABLES[request.param]:
        owner.execute(statement)
    owner.execute("SELECT pgstream.create_stream_table('st', 'SELECT id FROM t')")
    return owner


def relid(conn: psycopg.Connection) -> int:
    return conn.execute("SELECT 't'::regclass::oid::int8").fetchone()[0]


def break_buffer(conn: psycopg.Connection) -> None:
    conn.execute(f"ALTER TABLE pgstream_changes.changes_{relid(conn)} ADD CHECK (false) NOT VALID")


def snapshot(conn: psycopg.Connection) -> str:
    return conn.execute("SELECT pg_current_snapshot()::text").fetchone()[0]


def test_the_write_fails(t):
    break_buffer(t)
    with pytest.raises(psycopg.errors.CheckViolation):
        t.execute("INSERT INTO t VALUES (1)")
    assert t.execute("SELECT count(*) FROM t").fetchone() == (0,)


def test_the_source_is_marked(t):
    store.set_capture_errors(t, "mark")
    break_buffer(t)
    before = snapshot(t)
    for write in WRITES:
        t.execute(write)
        found = count_changes(open_buffers(t, t, [relid(t)]), relid(t), before)
        assert found.rows == 0
        assert "violates check constraint" in found.failure
        before = snapshot(t)
    assert count_changes(open_buffers(t, t, [relid(t)]), relid(t), before).failure is None


def test_back_to_failing(t):
    store.set_capture_errors(t, "mark")
    store.set_capture_errors(t, "fail")
    break_buffer(t)
    with pytest.raises(psycopg.errors.CheckViolation):
        t.execute("INSERT INTO t VALUES (1)")


def test_what_can_be_captured_is(t):
    store.set_capture_errors(t, "mark")
    before = snapshot(t)
    t.execute("INSERT INTO t VALUES (1)")
    t.execute("UPDATE t SET id = 2")
    assert count_changes(open_buffers(t, t, [relid(t)]), relid(t), before).rows == 3
    assert t.execute("SELECT count(*) FROM pgstream.pgs_capture_failures").fetchone() == (0,)


def test_a_writer_cannot_choose(t, bob):
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        bob.execute("SELECT pgstream._set_capture_errors(1, 'mark')")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        bob.execute("UPDATE pgstream.pgs_change_tracking SET capture_errors = 'mark'")


def test_if_it_cannot_be_marked_either_the_write_fails(t):
    store.set_capture_errors(t, "mark")
    break_buffer(t)
    t.execute("ALTER TABLE pgstream.pgs_capture_failures ADD CHECK (false) NOT VALID")
    with pytest.raises(psycopg.errors.CheckViolation):
        t.execute("INSERT INTO t VALUES (1)")


def test_cancelling_a_write_cancels_it(t, database):
    """A handler catches no cancel; here one that waits for a lock on the buffer."""
    store.set_capture_errors(t, "mark")
    holder = database.connect("pgs_test_owner", autocommit=False)
    holder.execute(f"LOCK TABLE pgstream_changes.changes_{relid(t)} IN ACCESS EXCLUSIVE MODE")
    t.execute("SET statement_timeout = '200ms'")
    with pytest.raises(psycopg.errors.QueryCanceled):
        t.execute("INSERT INTO t VALUES (1)")
    holder.rollback()
