"""Buffers, as a refresh uses them: what is new, what is appended, what is deleted."""

import json

import psycopg
import pytest
from psycopg import sql

from pgstream.capture.append import append
from pgstream.capture.buffers import Buffers, open_buffers
from pgstream.capture.clean import clean
from pgstream.capture.count_changes import Counted, count_changes
from pgstream.capture.names import find_buffer
from pgstream.capture.unseen import unseen

pytestmark = pytest.mark.postgres

OWNER = "pgs_test_owner"


def oid(conn: psycopg.Connection, relation: str) -> int:
    return conn.execute("SELECT %s::regclass::oid::int8", (relation,)).fetchone()[0]


def snapshot(conn: psycopg.Connection) -> str:
    return conn.execute("SELECT pg_current_snapshot()::text").fetchone()[0]


def ids(conn: psycopg.Connection, frontier: str) -> list[int]:
    query = sql.SQL("SELECT id FROM {} WHERE {} ORDER BY id")
    found = conn.execute(query.format(find_buffer(conn, oid(conn, "t")), unseen(frontier)))
    return [row[0] for row in found.fetchall()]


def buffers_of(conn: psycopg.Connection, relid: int) -> Buffers:
    return open_buffers(conn, conn, [relid])


@pytest.fixture
def t(owner):
    owner.execute("CREATE TABLE t (id int)")
    owner.execute("SELECT pgstream._install_capture('t'::regclass)")
    return owner


def test_a_transaction_that_ran_at_the_frontier_is_new_once_it_commits(t, database):
    late = database.connect(OWNER, autocommit=False)
    late.execute("INSERT INTO t VALUES (1)")
    t.execute("INSERT INTO t VALUES (2)")
    frontier = snapshot(t)
    t.execute("INSERT INTO t VALUES (3)")
    assert ids(t, frontier) == [3]
    late.commit()
    assert ids(t, frontier) == [1, 3]
    assert ids(t, snapshot(t)) == []


def test_changes_are_counted_and_truncate_is_told(t):
    relid, frontier = oid(t, "t"), snapshot(t)
    assert count_changes(buffers_of(t, relid), relid, frontier) == Counted(0, frozenset())
    t.execute("INSERT INTO t VALUES (1)")
    t.execute("UPDATE t SET id = 2")
    assert count_changes(buffers_of(t, relid), relid, frontier) == Counted(3, frozenset())
    t.execute("TRUNCATE t")
    assert count_changes(buffers_of(t, relid), relid, frontier) == Counted(3, frozenset("T"))
    assert count_changes(buffers_of(t, relid), relid, snapshot(t)) == Counted(0, frozenset())


def test_a_delta_is_appended_one_row_per_copy(owner):
    owner.execute("CREATE TABLE s (id int, __pgs_row_id bigint)")
    owner.execute(
        "CREATE TABLE delta AS SELECT * FROM (VALUES (1, 10::bigint, 2::bigint), (2, 20, -1), (3,"
        " 30, 0)) v(id, __pgs_row_id, __pgs_weight)"
    )
    relid = oid(owner, "s")
    assert find_buffer(owner, relid) is None
    append(owner, relid, sql.Identifier("delta"), ["id"])  # nobody reads it
    owner.execute("SELECT pgstream._create_buffer(%s)", (relid,))
    assert find_buffer(owner, relid) == sql.Identifier("pgstream_changes", f"changes_{relid}")
    append(owner, relid, sql.Identifier("delta"), ["id"])
    found = owner.execute(
        sql.SQL("SELECT __pgs_action, __pgs_weight, id, __pgs_row_id FROM {} ORDER BY id").format(
            find_buffer(owner, relid)
        )
    ).fetchall()
    assert found == [("I", 1, 1, 10), ("I", 1, 1, 10), ("D", -1, 2, 20)]


def test_a_relation_that_is_no_table_has_no_buffer(owner):
    assert find_buffer(owner, -1) is None


# --- clean ---------------------------------------------------------------------------------------


@pytest.fixture
def readers(t):
    for name in ("a", "b"):
        t.execute(
            "SELECT pgstream.create_stream_table(%s, 'SELECT id FROM t', refresh_mode => %s)",
            (name, "DIFFERENTIAL"),
        )
    return t


def move(conn: psycopg.Connection, name: str, frontier: str) -> None:
    source = {"snapshot": frontier, "lsn": "0/1", "at": "2025-01-31T12:00:00+00:00"}
    conn.execute(
        "UPDATE pgstream.pgs_stream_tables SET frontier = %s WHERE pgs_name = %s",
        (json.dumps({"sources": {str(oid(conn, "t")): source}}), name),
    )


def left(conn: psycopg.Connection) -> int:
    clean(conn, [oid(conn, "t")])
    count = sql.SQL("SELECT count(*) FROM {}").format(find_buffer(conn, oid(conn, "t")))
    return conn.execute(count).fetchone()[0]


def test_rows_go_when_the_slowest_reader_has_seen_them(readers):
    readers.execute("INSERT INTO t VALUES (1)")
    first = snapshot(readers)
    readers.execute("INSERT INTO t VALUES (2)")
    assert left(readers) == 2  # nobody has a frontier
    move(readers, "a", snapshot(readers))
    move(readers, "b", first)
    assert left(readers) == 1
    move(readers, "b", snapshot(readers))
    assert left(readers) == 0


def test_rows_stay_while_a_reader_is_populated(readers):
    readers.execute("INSERT INTO t VALUES (1)")
    move(readers, "a", snapshot(readers))
    readers.execute(
        "INSERT INTO pgstream.pgs_refresh_history (pgs_id, action, status)"
        " SELECT pgs_id, 'NO_DATA', 'RUNNING' FROM pgstream.pgs_stream_tables WHERE pgs_name = 'b'"
    )
    assert left(readers) == 1
    readers.execute("UPDATE pgstream.pgs_refresh_history SET status = 'FAILED'")
    assert left(readers) == 0


def test_rows_stay_while_a_reader_reads_the_source_whole(readers):
    """It has frontiers of other sources, so it is populated."""
    readers.execute("INSERT INTO t VALUES (1)")
    move(readers, "a", snapshot(readers))
    readers.execute(
        'UPDATE pgstream.pgs_stream_tables SET frontier = \'{"sources": {"1": {}}}\''
        " WHERE pgs_name = 'b'"
    )
    readers.execute(
        "INSERT INTO pgstream.pgs_refresh_history (pgs_id, action, status)"
        " SELECT pgs_id, 'NO_DATA', 'RUNNING' FROM pgstream.pgs_stream_tables WHERE pgs_name = 'b'"
    )
    assert left(readers) == 1
    readers.execute("UPDATE pgstream.pgs_refresh_history SET status = 'FAILED'")
    assert left(readers) == 0


def test_a_reader_in_full_mode_does_not_count(readers):
    readers.execute("INSERT INTO t VALUES (1)")
    first = snapshot(readers)
    readers.execute("INSERT INTO t VALUES (2)")
    move(readers, "a", snapshot(readers))
    move(readers, "b", first)
    readers.execute("SELECT pgstream.alter_stream_table('b', refresh_mode => 'FULL')")
    assert left(readers) == 0
