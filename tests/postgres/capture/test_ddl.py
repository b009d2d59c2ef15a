"""Writers never fail because of DDL on a captured table."""

import psycopg
import pytest
from psycopg import sql

from pgstream.capture.buffers import open_buffers
from pgstream.capture.count_changes import Counted, count_changes

pytestmark = pytest.mark.postgres

OWNER = "pgs_test_owner"
TABLES = {
    "by statement": ("CREATE TABLE t (id int, read int, other text)",),
    "by row": (
        "CREATE TABLE t (id int, read int, other text) PARTITION BY LIST (id)",
        "CREATE TABLE part PARTITION OF t DEFAULT",
    ),
}
UNREAD = [
    "ALTER TABLE t RENAME other TO another",
    "ALTER TABLE t DROP COLUMN other",
    "ALTER TABLE t ALTER other TYPE jsonb USING to_jsonb(other)",
    "ALTER TABLE t ADD COLUMN more int DEFAULT 5",
    "ALTER TABLE t ADD CHECK (id > 0)",
    "CREATE INDEX ON t (other)",
    "COMMENT ON COLUMN t.read IS 'x'",
]
READ = [
    "ALTER TABLE t RENAME read TO reading",
    "ALTER TABLE t DROP COLUMN read",
    "ALTER TABLE t ALTER read TYPE text",
    "ALTER TABLE t ALTER read TYPE numeric(10, 2)",
    "ALTER TABLE t DROP COLUMN read, ADD COLUMN read date",
]
FITS = [
    "ALTER TABLE t DROP COLUMN read, ADD COLUMN read int",
    "ALTER TABLE t RENAME TO u",
    "CREATE SCHEMA s; ALTER TABLE t SET SCHEMA s",
]


def buffer(conn: psycopg.Connection) -> list[tuple]:
    """Actions and weights, in order."""
    name = sql.Identifier("pgstream_changes", f"changes_{source(conn)}")
    query = sql.SQL("SELECT __pgs_action, __pgs_weight FROM {} ORDER BY __pgs_change_id")
    return conn.execute(query.format(name)).fetchall()


def source(conn: psycopg.Connection) -> int:
    return conn.execute("SELECT source_relid::int8 FROM pgstream.pgs_change_tracking").fetchone()[0]


def place(conn: psycopg.Connection) -> str:
    """The name of today."""
    query = "SELECT source_relid::regclass::text FROM pgstream.pgs_change_tracking"
    return conn.execute(query).fetchone()[0]


def write(conn: psycopg.Connection) -> None:
    """One row comes, is changed, and goes; under whatever name the table has."""
    conn.execute(f"INSERT INTO {place(conn)} (id) VALUES (1)")
    conn.execute(f"UPDATE {place(conn)} SET id = 2")
    conn.execute(f"DELETE FROM {place(conn)}")


@pytest.fixture(params=TABLES)
def t(owner, request):
    for statement in TABLES[request.param]:
        owner.execute(statement)
    owner.execute("SELECT pgstream.create_stream_table('st', 'SELECT id, read FROM t')")
    write(owner)
    return owner


WRITTEN = [("I", 1), ("U", -1), ("U", 1), ("D", -1)]


@pytest.mark.parametrize("ddl", UNREAD + FITS)
def test_a_change_that_nobody_reads_is_none(t, ddl):
    t.execute(ddl)
    write(t)
    assert buffer(t) == 2 * WRITTEN


@pytest.mark.parametrize("ddl", READ)
def test_rows_of_another_shape_are_marked(t, ddl):
    t.execute(ddl)
    write(t)
    assert buffer(t) == WRITTEN + 3 * [("S", 0)]
    counted = count_changes(open_buffers(t, t, [source(t)]), source(t), "1:1:")
    assert counted == Counted(4, frozenset("S"))


@pytest.mark.parametrize("ddl", READ)
def test_a_session_that_has_written_before_goes_on(t, database, ddl):
    """Its plans are of the old shape."""
    other = database.connect(OWNER, autocommit=False)
    write(other)
    other.commit()
    t.execute(ddl)
    write(other)
    other.commit()
    assert buffer(t)[8:].count(("S", 0)) in (1, 3)


def test_a_snapshot_that_does_not_know_of_the_ddl(t, database):
    other = database.connect(OWNER, autocommit=False)
    other.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    other.execute("SELECT 1")
    t.execute("ALTER TABLE t RENAME read TO reading")
    other.execute("INSERT INTO t VALUES (1, 2, 'x')")
    other.commit()
    assert buffer(t)[4:] == [("S", 0)]


def test_ddl_and_writes_in_one_transaction(t):
    with t.transaction():
        write(t)
        t.execute("ALTER TABLE t RENAME read TO reading")
        write(t)
        t.execute("ALTER TABLE t RENAME reading TO read")
        write(t)
    kept = [row for row in buffer(t) if row != ("S", 0)]
    assert kept == 3 * WRITTEN
    assert ("S", 0) in buffer(t)


def test_a_wider_type_fits_before_capture_knows(owner):
    owner.execute("CREATE TABLE t (a varchar(3), b numeric(4, 1))")
    owner.execute("SELECT pgstream.create_stream_table('st', 'SELECT a, b FROM t')")
    owner.execute("ALTER TABLE t ALTER a TYPE varchar(9), ALTER b TYPE numeric(9, 4)")
    owner.execute("INSERT INTO t VALUES ('abcdefgh', 1.2345)")
    name = sql.Identifier("pgstream_changes", f"changes_{source(owner)}")
    found = owner.execute(sql.SQL("SELECT a, b::text FROM {}").format(name)).fetchall()
    assert found == [("abcdefgh", "1.2345")]


def test_no_statement_takes_a_transaction_number_of_its_own(t):
    """Many such numbers in one transaction would slow every snapshot of the server."""
    with t.transaction():
        first = t.execute("SELECT pg_current_xact_id()::text::int8").fetchone()[0]
        for _ in range(20):
            write(t)
    last = t.execute("SELECT pg_current_xact_id()::text::int8").fetchone()[0]
    assert last == first + 1


# --- which columns ------------------------------------------------------------------------------


def columns(conn: psycopg.Connection) -> list[str]:
    query = "SELECT c->>'name' FROM pgstream.pgs_change_tracking, jsonb_array_elements(columns) c"
    return [row[0] for row in conn.execute(query).fetchall()]


def held(conn: psycopg.Connection) -> list[tuple]:
    name = sql.Identifier("pgstream_changes", f"changes_{source(conn)}")
    query = sql.SQL(
        "SELECT to_jsonb(held) - '{{__pgs_change_id,__pgs_xid,__pgs_lsn}}'::text[]"
        " FROM {} held ORDER BY __pgs_change_id"
    )
    return [row[0] for row in conn.execute(query.format(name)).fetchall()]


def test_only_columns_that_somebody_reads_are_captured(t):
    assert columns(t) == ["id", "read"]


def test_an_update_of_columns_that_nobody_reads_writes_nothing(t):
    t.execute("INSERT INTO t VALUES (1, 1, 'a'), (2, NULL, 'b')")
    before = len(buffer(t))
    t.execute("UPDATE t SET other = other || 'x'")
    assert len(buffer(t)) == before
    t.execute("UPDATE t SET other = 'c', read = 1")  # of the second row, too, it changes
    assert held(t)[before:] == [
        {"id": 2, "read": None, "__pgs_action": "U", "__pgs_weight": -1},
        {"id": 2, "read": 1, "__pgs_action": "U", "__pgs_weight": 1},
    ]


def test_many_rows_of_one_update_are_paired(owner):
    owner.execute("CREATE TABLE t (id int, read int, other text)")
    owner.execute("SELECT pgstream.create_stream_table('st', 'SELECT id, read FROM t')")
    owner.execute("INSERT INTO t SELECT i, i, 'x' FROM generate_series(1, 10000) i")
    owner.execute("UPDATE t SET other = 'y' WHERE id < 3")  # the plan is made for few rows
    owner.execute("UPDATE t SET read = read + (id % 2), other = 'z'")
    name = sql.Identifier("pgstream_changes", f"changes_{source(owner)}")
    counted = sql.SQL(
        "SELECT count(*), sum(__pgs_weight * read), sum(id % 2) FROM {} WHERE __pgs_action = 'U'"
    )
    assert owner.execute(counted.format(name)).fetchone() == (10000, 5000, 10000)


def test_one_row_and_two_of_an_update(owner):
    """One row is captured by a statement of its own. Without a key, equal rows, NULLs."""
    owner.execute("CREATE TABLE t (id int, read int, other text)")
    owner.execute("SELECT pgstream.create_stream_table('st', 'SELECT id, read FROM t')")
    owner.execute("INSERT INTO t VALUES (1, NULL, 'a'), (2, 5, 'b'), (2, 5, 'b')")
    before = len(held(owner))
    statements = {
        "UPDATE t SET read = NULL, other = 'x' WHERE id = 1": [],
        "UPDATE t SET read = 1 WHERE id = 1": [(1, None), (1, 1)],
        "UPDATE t SET id = NULL WHERE id = 1": [(1, 1), (None, 1)],
        "UPDATE t SET id = 3 WHERE id IS NULL": [(None, 1), (3, 1)],
        "UPDATE t SET read = 6 WHERE id = 2": [(2, 5), (2, 6), (2, 5), (2, 6)],
        "UPDATE t SET read = 6, other = 'y' WHERE id = 2": [],
        "UPDATE t SET read = 6 WHERE id > 1": [(3, 1), (3, 6)],
        "UPDATE t SET read = 7 WHERE id = 9": [],
    }
    for statement, wanted in statements.items():
        owner.execute(statement.encode())
        found = held(owner)[before:]
        assert [(row["id"], row["read"]) for row in found] == wanted, statement
        assert [row["__pgs_weight"] for row in found] == [-1, 1] * (len(wanted) // 2)
        before += len(found)


def test_no_columns_at_all(owner):
    owner.execute("CREATE TABLE t (a int, b text)")
    owner.execute("SELECT pgstream.create_stream_table('st', 'SELECT count(*) AS n FROM t')")
    owner.execute("INSERT INTO t VALUES (1, 'x')")
    owner.execute("UPDATE t SET a = 2")
    owner.execute("ALTER TABLE t RENAME a TO c")
    owner.execute("DELETE FROM t")
    assert (columns(owner), buffer(owner)) == ([], [("I", 1), ("D", -1)])


def test_a_further_reader_widens_the_buffer(t):
    before = held(t)
    t.execute("SELECT pgstream.create_stream_table('more', 'SELECT other FROM t')")
    assert columns(t) == ["id", "read", "other"]
    assert held(t) == [{**row, "other": None} for row in before]  # nothing is lost
    t.execute("INSERT INTO t VALUES (5, 6, 'x')")
    assert held(t)[-1] | {"id": 5, "read": 6, "other": "x"} == held(t)[-1]
    reinit = "SELECT bool_or(needs_reinit) FROM pgstream.pgs_stream_tables"
    assert t.execute(reinit).fetchone() == (False,)


def test_a_further_reader_waits_for_those_who_are_writing(t, database):
    """Their rows lack what it reads, and must be there when it is filled."""
    writer = database.connect(OWNER, autocommit=False)
    writer.execute("INSERT INTO t VALUES (1, 1, 'x')")
    t.execute("SET lock_timeout = '200ms'")
    with pytest.raises(psycopg.errors.LockNotAvailable):
        t.execute("SELECT pgstream.create_stream_table('more', 'SELECT other FROM t')")
    writer.commit()
    t.execute("SELECT pgstream.create_stream_table('more', 'SELECT other FROM t')")


def test_triggers_that_always_fire_stay_so(t, database):
    """Who wants replicated rows to be captured says so in PostgreSQL's way."""
    triggers = t.execute(
        "SELECT tgname FROM pg_trigger WHERE tgrelid = 't'::regclass AND tgname ~ '^__pgs_capture'"
    ).fetchall()
    for (name,) in triggers:
        statement = sql.SQL("ALTER TABLE t ENABLE ALWAYS TRIGGER {}")
        t.execute(statement.format(sql.Identifier(name)))
    t.execute("SELECT pgstream.create_stream_table('wider', 'SELECT id, other FROM t')")
    before = len(buffer(t))
    replica = database.connect()
    replica.execute("SET session_replication_role = replica")
    replica.execute("INSERT INTO t (id) VALUES (77)")
    assert buffer(t)[before:] == [("I", 1)]


def test_what_nobody_reads_any_more_is_not_captured(t):
    t.execute("SELECT pgstream.create_stream_table('more', 'SELECT other FROM t')")
    t.execute("SELECT pgstream.drop_stream_table('more')")
    assert columns(t) == ["id", "read"]
    t.execute("ALTER TABLE t DROP COLUMN other")
    write(t)
    assert ("S", 0) not in buffer(t)
    t.execute("ALTER TABLE t ADD COLUMN other date")
    t.execute("SELECT pgstream.create_stream_table('more', 'SELECT other FROM t')")
    t.execute("INSERT INTO t VALUES (1, 1, '2025-01-31')")
    assert held(t)[-1]["other"] == "2025-01-31"


def test_a_virtual_column_reads_others(owner):
    if owner.info.server_version < 180000:
        pytest.skip("since PostgreSQL 18")
    owner.execute("CREATE TABLE t (a int, b int GENERATED ALWAYS AS (a * 2) VIRTUAL, c int)")
    owner.execute("SELECT pgstream.create_stream_table('st', 'SELECT b FROM t')")
    owner.execute("INSERT INTO t (a, c) VALUES (1, 1)")
    owner.execute("UPDATE t SET c = 2")
    owner.execute("UPDATE t SET a = 2")
    assert [(row["b"], row["__pgs_weight"]) for row in held(owner)] == [(2, 1), (2, -1), (4, 1)]
    owner.execute("ALTER TABLE t RENAME a TO d")
    owner.execute("UPDATE t SET d = 3")
    assert held(owner)[-1]["__pgs_action"] == "S"
