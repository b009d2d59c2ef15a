"""Buffers that nobody reads: what cancels out goes, what is too much is replaced by a marker."""

from __future__ import annotations

import json
from random import Random

import psycopg
import pytest
from psycopg import sql

from pgstream.capture import batches
from pgstream.capture.batches import delete_in_batches
from pgstream.capture.buffers import open_buffers
from pgstream.capture.compact import compact
from pgstream.capture.count_changes import Counted, count_changes
from pgstream.capture.limit import empty_buffer
from pgstream.capture.names import find_buffer
from pgstream.capture.unseen import unseen
from pgstream.catalog.trim import trim_history
from pgstream.database.connection import PREPARE_AFTER, connect, connect_to_catalog
from pgstream.schedule.upkeep import Upkeep
from pgstream.settings import Settings

OWNER = "pgs_test_owner"


@pytest.fixture
def t(owner: psycopg.Connection) -> psycopg.Connection:
    """A source that two stream tables read."""
    owner.execute("CREATE TABLE t (id int, x numeric, doc json)")
    for name in ("a", "b"):
        owner.execute(
            "SELECT pgstream.create_stream_table(%s, 'SELECT id, x, doc FROM t')", (name,)
        )
    return owner


@pytest.fixture
def own(t, database):
    with connect(database.dsn_as(OWNER)) as own:
        yield own


def oid(conn: psycopg.Connection) -> int:
    return conn.execute("SELECT 'public.t'::regclass::oid::int8").fetchone()[0]


def snapshot(conn: psycopg.Connection) -> str:
    return conn.execute("SELECT pg_current_snapshot()::text").fetchone()[0]


def move(conn: psycopg.Connection, name: str, frontier: str) -> None:
    source = {"snapshot": frontier, "lsn": "0/1", "at": "2025-01-31T12:00:00+00:00"}
    conn.execute(
        "UPDATE pgstream.pgs_stream_tables SET frontier = %s WHERE pgs_name = %s",
        (json.dumps({"sources": {str(oid(conn)): source}}), name),
    )


def net(conn: psycopg.Connection, frontier: str) -> dict[str, int]:
    """What a reader with this frontier reads now: rows by their text, without what cancels out."""
    rows = conn.execute(
        sql.SQL(
            "SELECT concat_ws(' ', id, x, doc), sum(__pgs_weight) FROM {} WHERE {}"
            " GROUP BY 1 HAVING sum(__pgs_weight) <> 0"
        ).format(find_buffer(conn, oid(conn)), unseen(frontier))
    ).fetchall()
    return {text: int(weight) for text, weight in rows}


def rows_left(conn: psycopg.Connection) -> int:
    query = sql.SQL("SELECT count(*) FROM {}").format(find_buffer(conn, oid(conn)))
    return conn.execute(query).fetchone()[0]


# --- compaction ----------------------------------------------------------------------------------


def buffers_of(conn):
    return open_buffers(conn, conn, [oid(conn)])


def test_what_cancels_out_goes_and_readers_read_the_same(t, own):
    frontier = snapshot(t)
    move(t, "a", frontier)
    t.execute("INSERT INTO t SELECT i, i, '{}' FROM generate_series(1, 10) i")
    for _ in range(5):
        t.execute("UPDATE t SET x = x + 1 WHERE id <= 3")
    t.execute("DELETE FROM t WHERE id = 10")
    before = net(t, frontier)
    assert rows_left(t) == 10 + 5 * 6 + 1
    assert compact(own, oid(t)) == 2 * (5 * 3 + 1)
    assert net(t, frontier) == before
    assert rows_left(t) == 9
    assert compact(own, oid(t)) == 0


def test_a_pair_that_a_frontier_parts_stays(t, own):
    t.execute("INSERT INTO t VALUES (1, 1, '{}')")
    between = snapshot(t)
    t.execute("DELETE FROM t")
    move(t, "a", between)
    assert compact(own, oid(t)) == 0
    assert net(t, between) == {"1 1 {}": -1}
    move(t, "a", snapshot(t))
    assert compact(own, oid(t)) == 2


def test_each_reader_counts(t, own):
    first = snapshot(t)
    t.execute("INSERT INTO t VALUES (1, 1, '{}'), (2, 2, '{}')")
    t.execute("DELETE FROM t WHERE id = 1")
    second = snapshot(t)
    t.execute("UPDATE t SET x = 3")
    t.execute("UPDATE t SET x = 2")
    move(t, "a", first)
    move(t, "b", second)
    before = net(t, first), net(t, second)
    # 1 came and went before b's frontier; −3 +3 after it. 2 is on both sides of it: −2 +2 after.
    assert compact(own, oid(t)) == 2 + 4
    assert (net(t, first), net(t, second)) == before == ({"2 2 {}": 1}, {})


def test_other_bytes_do_not_cancel(t, own):
    frontier = snapshot(t)
    move(t, "a", frontier)
    t.execute("INSERT INTO t VALUES (1, 1.50, '{}')")
    t.execute("UPDATE t SET x = 1.5")
    t.execute("UPDATE t SET x = 1.50, doc = '{ }'")
    before = net(t, frontier)
    assert compact(own, oid(t)) == 4  # 1.50 and 1.5 with {}
    assert net(t, frontier) == before == {"1 1.50 { }": 1}


def test_nothing_goes_while_a_reader_is_being_refreshed(t, own, database):
    move(t, "a", snapshot(t))
    t.execute("INSERT INTO t VALUES (1, 1, '{}')")
    refresh = database.connect(OWNER, autocommit=False)
    refresh.execute(
        "SELECT pg_advisory_xact_lock(pgstream._refresh_lock(), pgs_id::int)"
        " FROM pgstream.pgs_stream_tables WHERE pgs_name = 'b'"
    )
    frontier = snapshot(refresh)  # has seen the row, and not that it goes
    t.execute("DELETE FROM t")
    assert compact(own, oid(t)) == 0
    move(t, "b", frontier)
    refresh.rollback()
    assert compact(own, oid(t)) == 0
    assert net(t, frontier) == {"1 1 {}": -1}


def test_what_is_not_committed_is_left_alone(t, own, database):
    late = database.connect(OWNER, autocommit=False)
    late.execute("INSERT INTO t VALUES (1, 1, '{}')")
    late.execute("DELETE FROM t")
    assert compact(own, oid(t)) == 0
    late.commit()
    assert compact(own, oid(t)) == 2


COME = "INSERT INTO t VALUES (%(id)s, %(x)s, '{}')"
# What another transaction is about to delete is left alone: nobody is there to wait for it.
GO = (
    "DELETE FROM t WHERE ctid = ANY(ARRAY(SELECT ctid FROM t"
    " WHERE id = %(id)s AND x = %(x)s FOR UPDATE SKIP LOCKED))"
)


@pytest.mark.parametrize("seed", range(6))
def test_whatever_happened_each_reader_reads_the_same(t, own, database, seed):
    """Transactions that overlap, and frontiers taken in between; `seed` replays it."""
    random = Random(seed)
    sessions = [database.connect(OWNER, autocommit=False) for _ in range(3)]
    frontiers = {"a": snapshot(t), "b": snapshot(t)}
    for _ in range(60):
        session = random.choice(sessions)
        match random.randrange(6):
            case 0:
                session.commit()
            case 1:
                session.rollback()
            case 2:
                frontiers[random.choice("ab")] = snapshot(t)
            case _:
                statement = random.choice((COME, GO))
                session.execute(statement, {"id": random.randrange(4), "x": random.randrange(2)})
    for name, frontier in frontiers.items():
        move(t, name, frontier)
    before = [net(t, frontier) for frontier in frontiers.values()]
    compact(own, oid(t))
    assert [net(t, frontier) for frontier in frontiers.values()] == before, f"seed {seed}"
    for session in sessions:
        session.commit()
    late = [net(t, frontier) for frontier in frontiers.values()]
    compact(own, oid(t))
    assert [net(t, frontier) for frontier in frontiers.values()] == late, f"seed {seed}"
    assert compact(own, oid(t)) == 0


# --- the limit -----------------------------------------------------------------------------------


def test_a_marker_stands_for_what_was_dropped(t, own, database):
    frontier = snapshot(t)
    late = database.connect(OWNER, autocommit=False)
    late.execute("INSERT INTO t VALUES (1, 1, '{}')")
    t.execute("INSERT INTO t SELECT i, i, '{}' FROM generate_series(2, 11) i")
    before = snapshot(t)
    assert empty_buffer(own, oid(t)) == 10
    assert count_changes(buffers_of(t), oid(t), frontier) == Counted(0, frozenset("O"))
    assert count_changes(buffers_of(t), oid(t), before) == Counted(0, frozenset("O"))
    full = snapshot(t)  # a full refresh has read everything
    late.commit()
    assert count_changes(buffers_of(t), oid(t), full) == Counted(1, frozenset())
    assert net(t, full) == {"1 1 {}": 1}
    assert empty_buffer(own, oid(t)) == 2  # the first marker, and the late row
    assert count_changes(buffers_of(t), oid(t), full) == Counted(0, frozenset("O"))


def test_batches(t, own):
    t.execute("INSERT INTO t SELECT i, i, '{}' FROM generate_series(1, 25) i")
    assert delete_in_batches(own, find_buffer(own, oid(t)), sql.SQL("id > %s"), (5,), batch=7) == 20
    assert rows_left(t) == 5


def test_no_plan_outlives_the_size_of_a_buffer(t, database):
    """Made while a buffer is empty, a plan compares each of its rows with each place."""
    with connect_to_catalog(database.dsn, "test") as catalog:
        buffer = find_buffer(catalog, oid(t))
        for _ in range(2 * PREPARE_AFTER):
            delete_in_batches(catalog, buffer, sql.SQL("__pgs_xid < %s::xid8"), ("9",))
        kept = catalog.execute("SELECT statement FROM pg_prepared_statements").fetchall()
    assert [text for (text,) in kept if buffer.as_string() in text] == []


# --- the worker's round --------------------------------------------------------------------------


def test_a_round_of_upkeep(t, own, monkeypatch):
    monkeypatch.setattr(batches, "BATCH", 10)
    frontier = snapshot(t)
    for name in ("a", "b"):
        move(t, name, frontier)
    t.execute("INSERT INTO t SELECT i, i, '{}' FROM generate_series(1, 300) i")
    t.execute("DELETE FROM t WHERE id <= 100")
    now = t.execute("SELECT now()").fetchone()[0]
    settings = Settings(buffer_compact_rows=150, buffer_limit=150)
    lines = [event.line for event in Upkeep().work(own, settings, now)]
    assert lines == [
        "200 changes of public.t cancel out and are deleted",
        "200 changes of public.t are dropped: buffer_limit is 150",
    ]
    assert count_changes(buffers_of(t), oid(t), frontier).markers == {"O"}
    assert list(Upkeep().work(own, settings, now)) == []


def test_keep_is_the_default(t, own):
    t.execute("INSERT INTO t SELECT i, i, '{}' FROM generate_series(1, 300) i")
    now = t.execute("SELECT now()").fetchone()[0]
    assert list(Upkeep().work(own, Settings(buffer_warning_rows=1), now)) == []
    assert rows_left(t) == 300


def refreshes(conn: psycopg.Connection, name: str, first: int, last: int) -> None:
    """One a day, from so many days and a half ago to so many."""
    conn.execute(
        "INSERT INTO pgstream.pgs_refresh_history (pgs_id, action, status, start_time, end_time)"
        " SELECT pgs_id, 'NO_DATA', 'COMPLETED', at, at FROM pgstream.pgs_stream_tables,"
        " LATERAL (SELECT now() - make_interval(days => d, hours => 12) AS at"
        " FROM generate_series(%s, %s, -1) d) days WHERE pgs_name = %s",
        (first, last, name),
    )


def test_old_history_goes_but_for_the_newest(t, own):
    refreshes(t, "a", 40, 31)
    refreshes(t, "b", 33, 28)
    assert trim_history(own, 30, batch=4) == 9 + 4
    counts = t.execute(
        "SELECT pgs_name, count(*) FROM pgstream.pgs_refresh_history"
        " JOIN pgstream.pgs_stream_tables USING (pgs_id) GROUP BY 1 ORDER BY 1"
    ).fetchall()
    assert counts == [("a", 1), ("b", 2)]
