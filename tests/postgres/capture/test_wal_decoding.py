"""What a real slot sends is decoded, and becomes rows of buffers."""

from __future__ import annotations

import pytest
from psycopg import sql

from pgstream.capture.names import find_buffer
from pgstream.capture.wal.ingest import ingest
from pgstream.capture.wal.messages import UNCHANGED, Begin, Commit, Delete, Insert, Truncate, Update
from pgstream.capture.wal.pgoutput import decode
from pgstream.capture.wal.slot import flush, insert_lsn, known_slot, peek
from wal_capture import oid, read_by, settled

pytestmark = pytest.mark.postgres

BIG = "repeat(md5('x'), 10000)"  # goes into TOAST, and stays there


@pytest.fixture
def t(replicator):
    replicator.execute("CREATE TABLE t (id int PRIMARY KEY, v text)")
    replicator.execute("ALTER TABLE t REPLICA IDENTITY FULL")
    replicator.execute("ALTER TABLE t ALTER v SET STORAGE EXTERNAL")
    read_by(replicator, "t")
    settled(replicator)
    return replicator


def messages(conn):
    upto, slot = insert_lsn(conn), known_slot(conn)
    flush(conn, upto)
    with conn.transaction():
        return [decode(data) for part in peek(conn, slot, upto) for _, data in part]


def buffered(conn, relation="t"):
    ingest(conn, insert_lsn(conn))
    query = sql.SQL("SELECT * FROM {} ORDER BY __pgs_change_id").format(
        find_buffer(conn, oid(conn, relation))
    )
    return [row[3:] for row in conn.execute(query).fetchall()]


def test_the_messages_of_a_slot(t):
    t.execute("INSERT INTO t VALUES (1, NULL)")
    t.execute("UPDATE t SET v = 'b'")
    t.execute("DELETE FROM t")
    t.execute("TRUNCATE t")
    relid = oid(t, "t")
    changes = [m for m in messages(t) if isinstance(m, Insert | Update | Delete | Truncate)]
    assert changes == [
        Insert(relid, (b"1", None)),
        Update(relid, (b"1", b"b"), old=(b"1", None)),
        Delete(relid, old=(b"1", b"b")),
        Truncate((relid,), cascade=False, restart_identity=False),
    ]


def test_a_transaction_is_one_whatever_its_savepoints(t):
    with t.transaction():
        t.execute("INSERT INTO t VALUES (1, 'a')")
        with t.transaction():
            t.execute("INSERT INTO t VALUES (2, 'b')")
        xid = t.execute("SELECT pg_current_xact_id()::text::bigint").fetchone()[0]
    found = messages(t)
    begins = [m for m in found if isinstance(m, Begin)]
    assert [m.xid for m in begins] == [xid]
    assert [m.commit_lsn for m in found if isinstance(m, Commit)] == [begins[0].commit_lsn]


def test_rows_become_those_that_triggers_write(t):
    t.execute("INSERT INTO t VALUES (1, 'a'), (2, NULL)")
    t.execute("UPDATE t SET v = 'c' WHERE id = 1")
    t.execute("DELETE FROM t WHERE id = 2")
    t.execute("TRUNCATE t")
    assert buffered(t) == [
        ("I", 1, 1, "a"),
        ("I", 1, 2, None),
        ("U", -1, 1, "a"),
        ("U", 1, 1, "c"),
        ("D", -1, 2, None),
        ("T", 0, None, None),
    ]


@pytest.mark.parametrize("value", ["a\tb", "a\nb\r", "\\", "\\N", "\\.", "", "ä€", "'\"", "a\\tb"])
def test_texts_arrive_as_they_are(t, value):
    t.execute("INSERT INTO t VALUES (1, %s)", (value,))
    assert buffered(t) == [("I", 1, 1, value)]


def test_a_value_in_toast_that_an_update_does_not_touch(t):
    t.execute(f"INSERT INTO t SELECT 1, {BIG}")
    t.execute("UPDATE t SET id = 2")
    assert [m.new[1] for m in messages(t) if isinstance(m, Update)] == [UNCHANGED]
    value = t.execute(f"SELECT {BIG}").fetchone()[0]
    assert buffered(t) == [("I", 1, 1, value), ("U", -1, 1, value), ("U", 1, 2, value)]


def test_every_type_arrives_as_a_trigger_would_write_it(replicator):
    """Twice the same table, captured in both ways."""
    conn = replicator
    conn.execute("CREATE TYPE mood AS ENUM ('sad', 'so so')")
    conn.execute("CREATE TYPE pair AS (a int, b text)")
    conn.execute("CREATE DOMAIN positive AS numeric(9, 3) CHECK (VALUE > 0)")
    columns = (
        "a numeric, b float8, c float4, d timestamptz, e interval, f bytea, g jsonb, h json,"
        " i text[], j int4range, k mood, l pair, m positive, n char(5), o boolean, p inet,"
        " q uuid, r bit(3), s money, t date, u time, w mood[]"
    )
    values = (
        "1.500, 0.1::float8 + 0.2, 'NaN', '2024-02-29 23:59:59.123456+02', '1 mon -3 days 04:05',"
        " '\\x00ff5c', '{\"a\": [1, null]}', '{\"b\":  1}', ARRAY['x,y', NULL, '\"'],"
        " '[1,5)', 'so so', ROW(1, 'a,(b)'), 12.5, 'ab', true, '10.0.0.1/8',"
        " 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', B'101', 12.34, 'infinity', '04:05:06.789',"
        " ARRAY['sad']::mood[]"
    )
    conn.execute(f"CREATE TABLE by_wal ({columns})")
    conn.execute(f"CREATE TABLE by_trigger ({columns})")
    conn.execute("ALTER TABLE by_wal REPLICA IDENTITY FULL")
    for number, relation in enumerate(("by_wal", "by_trigger")):
        conn.execute(
            "SELECT pgstream.create_stream_table(%s, %s, '1h', 'DIFFERENTIAL', false)",
            (f"public.st_{number}", f"SELECT * FROM {relation}"),
        )
    conn.execute("UPDATE pgstream.pgs_stream_tables SET is_populated = true")
    settled(conn, "auto")
    for relation in ("by_wal", "by_trigger"):
        conn.execute(f"INSERT INTO {relation} VALUES ({values})")
        conn.execute(f"UPDATE {relation} SET b = -0.0, a = NULL")
        conn.execute(f"DELETE FROM {relation}")
    ingest(conn, insert_lsn(conn))
    texts = [
        conn.execute(
            sql.SQL(
                "SELECT (to_jsonb(captured)"
                "  - '{{__pgs_change_id,__pgs_xid,__pgs_lsn}}'::text[])::text,"
                " captured.b::text, captured.a::text FROM {} captured ORDER BY __pgs_change_id"
            ).format(find_buffer(conn, oid(conn, relation)))
        ).fetchall()
        for relation in ("by_wal", "by_trigger")
    ]
    assert len(texts[0]) == 4
    assert texts[0] == texts[1]
