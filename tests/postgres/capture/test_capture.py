"""Capture, as PostgreSQL does it: what the triggers write into the buffers."""

from decimal import Decimal

import psycopg
import pytest
from psycopg import sql

pytestmark = pytest.mark.postgres

OWNER = "pgs_test_owner"
ALICE = "pgs_test_alice"
BOB = "pgs_test_bob"


def oid(conn: psycopg.Connection, relation: str) -> int:
    return conn.execute("SELECT %s::regclass::oid::int8", (relation,)).fetchone()[0]


def capture(conn: psycopg.Connection, relation: str) -> None:
    conn.execute("SELECT pgstream._install_capture(%s::regclass)", (relation,))


def changes(conn: psycopg.Connection, relation: str, columns: str = "*") -> list[tuple]:
    """Action, weight and columns, in order."""
    buffer = sql.Identifier("pgstream_changes", f"changes_{oid(conn, relation)}")
    rows = conn.execute(
        sql.SQL("SELECT * FROM {} ORDER BY __pgs_change_id").format(buffer)
    ).fetchall()
    return [row[3:] for row in rows]


def triggers(conn: psycopg.Connection) -> list[tuple]:
    return conn.execute("SELECT tgrelid, tgname, tgfoid FROM pg_trigger ORDER BY 1, 2").fetchall()


def objects(conn: psycopg.Connection) -> list[tuple]:
    return conn.execute(
        "SELECT 'class', relname::text, relacl::text FROM pg_class"
        " UNION ALL SELECT 'proc', proname::text, NULL FROM pg_proc"
        " UNION ALL SELECT 'attribute', attrelid::text, attname::text FROM pg_attribute"
        " WHERE attrelid > 16384 ORDER BY 1, 2, 3"
    ).fetchall()


@pytest.fixture
def t(owner):
    owner.execute("CREATE TABLE t (id int PRIMARY KEY, v text)")
    capture(owner, "t")
    return owner


def test_insert_update_delete(t):
    t.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    t.execute("UPDATE t SET v = 'c' WHERE id = 1")
    t.execute("DELETE FROM t WHERE id = 2")
    assert changes(t, "t") == [
        ("I", 1, 1, "a"),
        ("I", 1, 2, "b"),
        ("U", -1, 1, "a"),
        ("U", 1, 1, "c"),
        ("D", -1, 2, "b"),
    ]


def test_statement_without_rows_writes_nothing(t):
    t.execute("INSERT INTO t SELECT 1, 'a' WHERE false")
    t.execute("UPDATE t SET v = 'x'")
    t.execute("DELETE FROM t")
    assert changes(t, "t") == []


def test_copy(t):
    with t.cursor().copy("COPY t FROM STDIN") as copy:
        copy.write_row((1, "a"))
        copy.write_row((2, None))
    assert changes(t, "t") == [("I", 1, 1, "a"), ("I", 1, 2, None)]


def test_merge(t):
    t.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    t.execute(
        "MERGE INTO t USING (VALUES (1, 'x'), (2, NULL), (3, 'z')) AS s(id, v) ON t.id = s.id"
        " WHEN MATCHED AND s.v IS NULL THEN DELETE"
        " WHEN MATCHED THEN UPDATE SET v = s.v"
        " WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v)"
    )
    assert sorted(changes(t, "t")[2:]) == [
        ("D", -1, 2, "b"),
        ("I", 1, 3, "z"),
        ("U", -1, 1, "a"),
        ("U", 1, 1, "x"),
    ]


def test_insert_on_conflict_do_update(t):
    t.execute("INSERT INTO t VALUES (1, 'a')")
    t.execute(
        "INSERT INTO t VALUES (1, 'b'), (2, 'c') ON CONFLICT (id) DO UPDATE SET v = excluded.v"
    )
    assert sorted(changes(t, "t")[1:]) == [
        ("I", 1, 2, "c"),
        ("U", -1, 1, "a"),
        ("U", 1, 1, "b"),
    ]


def test_foreign_key_cascades(t):
    t.execute(
        "CREATE TABLE child (t_id int REFERENCES t ON DELETE CASCADE ON UPDATE CASCADE, n int)"
    )
    capture(t, "child")
    t.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    t.execute("INSERT INTO child VALUES (1, 10), (2, 20)")
    t.execute("UPDATE t SET id = 3 WHERE id = 1")
    t.execute("DELETE FROM t WHERE id = 2")
    assert changes(t, "child")[2:] == [("U", -1, 1, 10), ("U", 1, 3, 10), ("D", -1, 2, 20)]


def test_truncate_writes_a_marker(t):
    t.execute("INSERT INTO t VALUES (1, 'a')")
    t.execute("TRUNCATE t")
    assert changes(t, "t")[1:] == [("T", 0, None, None)]


def test_truncate_marker_with_a_domain_that_refuses_nulls(owner):
    owner.execute('CREATE DOMAIN code AS varchar(3) COLLATE "C" NOT NULL')
    owner.execute("CREATE DOMAIN short_code AS code CHECK (value <> '')")
    owner.execute("CREATE TABLE d (c short_code)")
    capture(owner, "d")
    owner.execute("INSERT INTO d VALUES ('abc')")
    owner.execute("TRUNCATE d")
    assert changes(owner, "d") == [("I", 1, "abc"), ("T", 0, None)]
    assert tracked_columns(owner, "d") == [{"name": "c", "type": "character varying"}]


def tracked_columns(conn: psycopg.Connection, relation: str) -> list[dict]:
    query = "SELECT columns FROM pgstream.pgs_change_tracking WHERE source_relid = %s::regclass"
    return conn.execute(query, (relation,)).fetchone()[0]


def test_writable_with_and_triggers_that_write(t):
    t.execute("CREATE TABLE log (v text)")
    capture(t, "log")
    t.execute(
        "CREATE FUNCTION add_log() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN INSERT INTO log VALUES (NEW.v); NEW.v := upper(NEW.v); RETURN NEW; END'"
    )
    t.execute("CREATE TRIGGER b BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION add_log()")
    t.execute(
        "WITH w AS (INSERT INTO t VALUES (1, 'a') RETURNING *) INSERT INTO t SELECT 2, v FROM w"
    )
    assert changes(t, "t") == [("I", 1, 1, "A"), ("I", 1, 2, "A")]
    assert changes(t, "log") == [("I", 1, "a"), ("I", 1, "A")]


def test_rollback_leaves_nothing_and_xid_is_the_top_transaction(t):
    with t.transaction():
        xid = t.execute("SELECT pg_current_xact_id()::text").fetchone()[0]
        with t.transaction():
            t.execute("INSERT INTO t VALUES (1, 'a')")
        with t.transaction(force_rollback=True):
            t.execute("INSERT INTO t VALUES (2, 'b')")
    rows = t.execute(
        f"SELECT __pgs_xid::text, __pgs_lsn IS NOT NULL FROM pgstream_changes.changes_{oid(t, 't')}"
    ).fetchall()
    assert rows == [(xid, True)]


def test_no_primary_key_duplicates_and_nulls(owner):
    owner.execute("CREATE TABLE n (a int, j json, p point)")
    capture(owner, "n")
    owner.execute(
        "INSERT INTO n VALUES (1, '[1]', '(1,2)'), (1, '[1]', '(1,2)'), (NULL, NULL, NULL)"
    )
    owner.execute("UPDATE n SET a = 2 WHERE a = 1")
    owner.execute("DELETE FROM n")
    assert [row[:3] for row in changes(owner, "n")] == [
        *[("I", 1, 1), ("I", 1, 1), ("I", 1, None)],
        *[("U", -1, 1), ("U", -1, 1), ("U", 1, 2), ("U", 1, 2)],
        *[("D", -1, None), ("D", -1, 2), ("D", -1, 2)],
    ]


def test_table_without_columns(owner):
    owner.execute("CREATE TABLE nothing ()")
    capture(owner, "nothing")
    owner.execute("INSERT INTO nothing DEFAULT VALUES")
    assert changes(owner, "nothing") == [("I", 1)]


ODD = ['"', "it's", "a b", "ü€", "<values>", "tg_op", "found", "new", "n", "%I", "$$", "select"]


def test_odd_names_and_another_schema(database, owner):
    database.connect().execute(f'CREATE SCHEMA "My ""Schema""" AUTHORIZATION {OWNER}')
    name = sql.Identifier('My "Schema"', 'Tä\'b "le"')
    columns = sql.SQL(", ").join(sql.SQL("{} int").format(sql.Identifier(c)) for c in ODD)
    for partition in (sql.SQL(""), sql.SQL(" PARTITION BY LIST (n)")):
        owner.execute(sql.SQL("CREATE TABLE {} ({}){}").format(name, columns, partition))
        text = name.as_string(owner)
        if partition.as_string(owner):
            default = sql.Identifier('My "Schema"', "rest")
            owner.execute(sql.SQL("CREATE TABLE {} PARTITION OF {} DEFAULT").format(default, name))
        capture(owner, text)
        values = list(range(len(ODD)))
        marks = sql.SQL(", ").join(sql.Literal(v) for v in values)
        owner.execute(sql.SQL("INSERT INTO {} VALUES ({})").format(name, marks))
        owner.execute(sql.SQL("UPDATE {} SET {} = 99").format(name, sql.Identifier('"')))
        owner.execute(sql.SQL("DELETE FROM {}").format(name))
        after = [99, *values[1:]]
        assert changes(owner, text) == [
            ("I", 1, *values),
            ("U", -1, *values),
            ("U", 1, *after),
            ("D", -1, *after),
        ]
        assert [c["name"] for c in tracked_columns(owner, text)] == ODD
        owner.execute("SELECT pgstream._remove_capture(%s::regclass)", (text,))
        owner.execute(sql.SQL("DROP TABLE {}").format(name))


def test_types_keep_their_collations_and_lose_their_modifiers(owner):
    owner.execute(
        'CREATE TABLE m (a numeric(10,2), b varchar(5) COLLATE "C", c char(3), d bit(4), e "char",'
        " f timestamptz(3), g int[], h interval day to second(2), dropped int, i bpchar)"
    )
    owner.execute("ALTER TABLE m DROP COLUMN dropped")
    capture(owner, "m")
    shape = (
        "SELECT attname, atttypid, attcollation, attnotnull"
        " FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"
        " AND attname NOT LIKE '\\_\\_pgs\\_%%' ORDER BY attnum"
    )
    buffer = f"pgstream_changes.changes_{oid(owner, 'm')}"
    assert owner.execute(shape, (buffer,)).fetchall() == owner.execute(shape, ("m",)).fetchall()
    owner.execute("INSERT INTO m (a, b, c, d) VALUES (1.25, 'abcde', 'a', B'1010')")
    assert changes(owner, "m")[0][2:6] == (Decimal("1.25"), "abcde", "a  ", "1010")


def test_generated_and_identity_columns(owner):
    owner.execute(
        "CREATE TABLE g (id int GENERATED ALWAYS AS IDENTITY, a int,"
        " b int GENERATED ALWAYS AS (a * 2) STORED)"
    )
    capture(owner, "g")
    owner.execute("INSERT INTO g (a) VALUES (5)")
    owner.execute("UPDATE g SET a = 6")
    assert changes(owner, "g") == [("I", 1, 1, 5, 10), ("U", -1, 1, 5, 10), ("U", 1, 1, 6, 12)]


@pytest.mark.parametrize("partition", ["", "PARTITION BY RANGE (a)"])
def test_virtual_generated_column(owner, partition):
    if owner.info.server_version < 180000:
        pytest.skip("since PostgreSQL 18")
    owner.execute(
        "CREATE TABLE g (a int, found int,"
        f" b int GENERATED ALWAYS AS (a * 2 + found) VIRTUAL) {partition}"
    )
    if partition:
        owner.execute("CREATE TABLE g1 PARTITION OF g DEFAULT")
    capture(owner, "g")
    owner.execute("INSERT INTO g (a, found) VALUES (5, 1)")
    owner.execute("UPDATE g SET a = 6")
    assert changes(owner, "g") == [("I", 1, 5, 1, 11), ("U", -1, 5, 1, 11), ("U", 1, 6, 1, 13)]


@pytest.fixture
def parts(owner):
    owner.execute("CREATE TABLE p (id int, k int, v text) PARTITION BY LIST (k)")
    owner.execute("CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1)")
    # Other columns at other places.
    owner.execute("CREATE TABLE p2 (gone int, v text, k int, id int)")
    owner.execute("ALTER TABLE p2 DROP COLUMN gone")
    owner.execute("ALTER TABLE p ATTACH PARTITION p2 FOR VALUES IN (2)")
    capture(owner, "p")
    return owner


def test_partitioned_parent(parts):
    parts.execute("INSERT INTO p VALUES (1, 1, 'a'), (2, 2, 'b')")
    parts.execute("UPDATE p SET v = 'c' WHERE k = 2")
    parts.execute("DELETE FROM p WHERE k = 1")
    assert changes(parts, "p") == [
        ("I", 1, 1, 1, "a"),
        ("I", 1, 2, 2, "b"),
        ("U", -1, 2, 2, "b"),
        ("U", 1, 2, 2, "c"),
        ("D", -1, 1, 1, "a"),
    ]


def test_partition_written_directly_and_row_movement(parts):
    parts.execute("INSERT INTO p1 VALUES (1, 1, 'a')")
    parts.execute("INSERT INTO p2 (id, k, v) VALUES (2, 2, 'b')")
    parts.execute("UPDATE p SET k = 2 WHERE id = 1")
    assert sorted(changes(parts, "p")[2:]) == [("D", -1, 1, 1, "a"), ("I", 1, 1, 2, "a")]


def test_later_partition_is_captured(parts):
    """Its rows before capture knows of it are marked: it may be gone at the next refresh."""
    parts.execute("CREATE TABLE p3 PARTITION OF p FOR VALUES IN (3)")
    parts.execute("INSERT INTO p3 VALUES (1, 3, 'a')")
    assert changes(parts, "p") == [("S", 0, None, None, None)]
    parts.execute("SELECT pgstream._install_capture('p'::regclass)")
    parts.execute("INSERT INTO p3 VALUES (2, 3, 'a')")
    assert changes(parts, "p")[1:] == [("I", 1, 2, 3, "a")]


def test_truncate_of_the_parent_and_of_one_partition(parts):
    parts.execute("TRUNCATE p2")
    assert changes(parts, "p") == [("T", 0, None, None, None)]
    parts.execute("TRUNCATE p")
    assert {row[0] for row in changes(parts, "p")} == {"T"}


def test_parent_and_partition_are_both_sources(parts):
    before = triggers(parts)
    capture(parts, "p1")
    parts.execute("INSERT INTO p VALUES (1, 1, 'a'), (2, 2, 'b')")
    parts.execute("UPDATE p SET k = 2 WHERE id = 1")
    assert changes(parts, "p1") == [("I", 1, 1, 1, "a"), ("D", -1, 1, 1, "a")]
    assert len(changes(parts, "p")) == 4
    parts.execute("SELECT pgstream._remove_capture('p1'::regclass)")
    assert triggers(parts) == before


def test_inheritance_child_written_through_its_parent(owner):
    owner.execute("CREATE TABLE parent (a int)")
    owner.execute("CREATE TABLE kid (b int) INHERITS (parent)")
    capture(owner, "kid")
    owner.execute("INSERT INTO kid VALUES (1, 2)")
    owner.execute("UPDATE parent SET a = 3")
    assert changes(owner, "kid") == [("I", 1, 1, 2), ("U", -1, 1, 2), ("U", 1, 3, 2)]


def test_inheritance_parent(owner):
    """A statement that names a table has the rows of its children among its own."""
    owner.execute("CREATE TABLE parent (a int)")
    owner.execute("CREATE TABLE kid (b int) INHERITS (parent)")
    owner.execute("CREATE TABLE grandkid (c int) INHERITS (kid)")
    before = triggers(owner)
    capture(owner, "parent")
    for number, table in enumerate(("parent", "kid", "grandkid")):
        owner.execute(f"INSERT INTO {table} (a) VALUES ({number})")
    owner.execute("UPDATE kid SET a = a + 10")
    owner.execute("DELETE FROM parent WHERE a < 12")
    assert sorted(changes(owner, "parent")) == [
        *[("D", -1, 0), ("D", -1, 11), ("I", 1, 0), ("I", 1, 1), ("I", 1, 2)],
        *[("U", -1, 1), ("U", -1, 2), ("U", 1, 11), ("U", 1, 12)],
    ]
    owner.execute("TRUNCATE grandkid")
    assert changes(owner, "parent")[-1] == ("T", 0, None)
    owner.execute("SELECT pgstream._remove_capture('parent'::regclass)")
    assert triggers(owner) == before


def test_a_parent_and_its_child_are_both_sources(owner):
    owner.execute("CREATE TABLE parent (a int)")
    owner.execute("CREATE TABLE kid (b int) INHERITS (parent)")
    capture(owner, "parent")
    capture(owner, "kid")
    owner.execute("INSERT INTO kid VALUES (1, 2)")
    owner.execute("UPDATE parent SET a = 3")
    assert changes(owner, "kid") == [("I", 1, 1, 2), ("U", -1, 1, 2), ("U", 1, 3, 2)]
    assert changes(owner, "parent") == [("I", 1, 1), ("U", -1, 1), ("U", 1, 3)]


def test_writer_without_rights_on_the_buffer(t, bob):
    t.execute(f"GRANT INSERT, UPDATE, SELECT ON t TO {BOB}")
    bob.execute("INSERT INTO public.t VALUES (1, 'a')")
    assert changes(t, "t") == [("I", 1, 1, "a")]
    buffer = f"pgstream_changes.changes_{oid(t, 't')}"
    for statement in (f"SELECT FROM {buffer}", f"DELETE FROM {buffer}"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            bob.execute(statement)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        bob.execute("SELECT pgstream._remove_capture('public.t'::regclass)")


def test_functions_of_a_writer_cannot_reach_in(t, alice):
    """A writer's search_path and temporary objects do not matter to the capture function."""
    t.execute(f"GRANT INSERT ON t TO {ALICE}")
    alice.execute(f"CREATE TEMP TABLE changes_{oid(t, 't')} (a int)")
    alice.execute(
        "CREATE FUNCTION public.pg_current_xact_id() RETURNS xid8 LANGUAGE sql"
        " AS 'SELECT 1/0; SELECT NULL::xid8'"
    )
    alice.execute("SET search_path = pg_temp, public, pg_catalog")
    alice.execute("INSERT INTO public.t VALUES (1, 'a')")
    assert changes(t, "t") == [("I", 1, 1, "a")]


def test_removal_leaves_the_table_as_before(owner):
    owner.execute("CREATE TABLE r (id int PRIMARY KEY)")
    owner.execute(
        "CREATE FUNCTION noop() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'"
    )
    owner.execute("CREATE TRIGGER mine AFTER INSERT ON r EXECUTE FUNCTION noop()")
    before = triggers(owner), objects(owner)
    for _ in range(2):
        capture(owner, "r")
        capture(owner, "r")  # again is nothing
        assert len(triggers(owner)) == len(before[0]) + 4
        owner.execute("SELECT pgstream._remove_capture('r'::regclass)")
        owner.execute("SELECT pgstream._remove_capture('r'::regclass)")
        assert (triggers(owner), objects(owner)) == before


def test_removal_after_the_source_is_dropped(t):
    number = oid(t, "t")
    t.execute("DROP TABLE t")
    t.execute("SELECT pgstream._remove_capture(%s)", (number,))
    left = t.execute(
        "SELECT count(*) FROM pg_class WHERE relnamespace = 'pgstream_changes'::regnamespace"
    ).fetchone()
    assert left == (0,)


def test_stream_table_has_a_buffer_and_no_triggers(t):
    t.execute("SELECT pgstream.create_stream_table('s', 'SELECT id FROM t')")
    before = triggers(t)
    capture(t, "s")
    assert triggers(t) == before
    assert changes(t, "s") == []
    assert [c["name"] for c in tracked_columns(t, "s")] == ["id", "__pgs_row_id"]


@pytest.mark.parametrize(
    ("setup", "relation", "says"),
    [
        ("CREATE TEMP TABLE x (a int)", "x", "temporary table"),
        ("", "pg_class", "system catalog"),
        ("", "information_schema.tables", "system catalog"),
        ("", "pgstream.pgs_migrations", "belongs to pgstream"),
        ("CREATE VIEW x AS SELECT 1", "x", "is a view"),
        ("CREATE MATERIALIZED VIEW x AS SELECT 1", "x", "materialized view"),
        ("CREATE SEQUENCE x", "x", "not a table"),
        ("CREATE TABLE x (__pgs_a int)", "x", "__pgs_"),
        ("CREATE TABLE x (a int); ALTER TABLE x ENABLE ROW LEVEL SECURITY", "x", "row security"),
    ],
)
def test_refused_relations(owner, setup, relation, says):
    owner.execute(setup)
    with pytest.raises(psycopg.Error, match=says) as caught:
        capture(owner, relation)
    assert caught.value.sqlstate == "PS015"
    assert caught.value.diag.message_hint


def test_foreign_table_is_refused(database, owner):
    admin = database.connect()
    admin.execute("CREATE FOREIGN DATA WRAPPER w")
    admin.execute("CREATE SERVER srv FOREIGN DATA WRAPPER w")
    admin.execute("CREATE FOREIGN TABLE ft (a int) SERVER srv")
    with pytest.raises(psycopg.Error, match="foreign table"):
        capture(owner, "ft")


def test_rights_that_the_installing_role_needs(database, owner):
    admin = database.connect()
    admin.execute("CREATE SCHEMA far")
    admin.execute("CREATE TABLE far.x (a int)")
    relid = oid(admin, "far.x")
    for grant in (
        f"GRANT USAGE ON SCHEMA far TO {OWNER}",
        f"GRANT SELECT ON far.x TO {OWNER}",
        f"GRANT TRIGGER ON far.x TO {OWNER}",
    ):
        with pytest.raises(psycopg.Error, match=OWNER) as caught:
            owner.execute("SELECT pgstream._install_capture(%s)", (relid,))
        assert caught.value.sqlstate == "PS009"
        assert caught.value.diag.message_hint == grant
        admin.execute(grant)
    owner.execute("SELECT pgstream._install_capture(%s)", (relid,))
    admin.execute("INSERT INTO far.x VALUES (1)")
    assert changes(owner, "far.x") == [("I", 1, 1)]
    before = len(triggers(owner))
    owner.execute("SELECT pgstream._remove_capture(%s)", (relid,))  # needs no ownership
    assert len(triggers(owner)) == before - 4
