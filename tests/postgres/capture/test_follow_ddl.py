"""A refresh follows DDL: what is marked, refused, renamed and captured again."""

import psycopg
import pytest

from pgstream.catalog import store
from pgstream.catalog.shapes import changed_shapes
from pgstream.database.connection import connect
from pgstream.errors import SourceChanged
from pgstream.refresh.follow_ddl import follow_ddl

pytestmark = pytest.mark.postgres

OWNER = "pgs_test_owner"
ALICE = "pgs_test_alice"


@pytest.fixture
def own(database):
    """As the connections of a refresh are."""
    with connect(database.dsn_as(OWNER), autocommit=True) as connection:
        yield connection


def create(conn: psycopg.Connection, query: str, name: str = "st") -> None:
    conn.execute("SELECT pgstream.create_stream_table(%s, %s)", (name, query))


def ids(own: psycopg.Connection) -> list[int]:
    return [row[0] for row in own.execute("SELECT pgs_id FROM pgstream.pgs_stream_tables")]


def follow(own: psycopg.Connection) -> str | None:
    """The reason to start again; after it nothing differs."""
    follow_ddl(own, changed_shapes(own, ids(own)))
    assert changed_shapes(own, ids(own)) == []
    query = "SELECT reinit_reason, needs_reinit FROM pgstream.pgs_stream_tables"
    reason, needed = own.execute(query).fetchone()
    assert needed is (reason is not None)
    return reason


def texts(own: psycopg.Connection) -> tuple[str, str]:
    query = "SELECT defining_query, query_with_views FROM pgstream.pgs_stream_tables"
    return own.execute(query).fetchone()


def test_nothing_has_changed(owner, own):
    owner.execute("CREATE TABLE t (id int, a int)")
    create(owner, "SELECT a FROM t")
    assert changed_shapes(own, ids(own)) == []
    owner.execute("ALTER TABLE t ADD COLUMN more int, ALTER id TYPE bigint; CREATE INDEX ON t (a)")
    owner.execute("INSERT INTO t VALUES (1, 2); UPDATE t SET a = 3; ANALYZE t")
    create(owner, "SELECT id FROM t", "another")
    assert changed_shapes(own, ids(own)) == []


@pytest.mark.parametrize("ddl", ["ALTER TABLE t RENAME TO u", "ALTER TABLE t SET SCHEMA far"])
def test_a_table_that_is_renamed(database, owner, own, ddl):
    database.connect().execute(f"CREATE SCHEMA far AUTHORIZATION {OWNER}")
    owner.execute("CREATE TABLE t (id int, a int)")
    create(owner, "SELECT t.a, x.id FROM t JOIN t x ON x.id = t.id")
    owner.execute(ddl)
    assert follow(own) is None
    place = owner.execute(
        "SELECT source_relid::regclass::text FROM pgstream.pgs_dependencies"
    ).fetchone()[0]
    for text in texts(own):
        owner.execute(text)
        assert "public.t" not in text
        assert place.split(".")[-1] in text


def test_a_type_takes_the_stored_column_and_the_buffer_along(owner, own):
    owner.execute("CREATE TABLE t (id int, a int)")
    create(owner, "SELECT a, count(*) AS n FROM t GROUP BY a")
    owner.execute("ALTER TABLE t ALTER a TYPE numeric(9, 2)")
    owner.execute("INSERT INTO t VALUES (1, 2.25)")
    assert follow(own) == "public.t: the type of column a has changed"
    owner.execute("INSERT INTO t VALUES (1, 2.25)")
    relid = owner.execute("SELECT 't'::regclass::oid").fetchone()[0]
    marks = owner.execute(
        f"SELECT __pgs_action, a::text FROM pgstream_changes.changes_{relid}"
        " ORDER BY __pgs_change_id"
    )
    assert marks.fetchall() == [("S", None), ("I", "2.25")]
    types = (
        "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = %s::regclass"
    )
    stored = owner.execute(f"{types} AND attname = 'a'", ("st",)).fetchone()
    assert stored == ("numeric(9,2)",)


def test_what_cannot_be_followed(owner, own):
    owner.execute("CREATE TABLE t (id int, a int)")
    create(owner, "SELECT a FROM t")
    owner.execute("ALTER TABLE t RENAME a TO b")
    for _ in range(2):
        with pytest.raises(SourceChanged, match=r"the column a of public.t has been renamed"):
            follow(own)
    owner.execute("INSERT INTO t VALUES (1, 2)")  # is captured, without a
    owner.execute("ALTER TABLE t RENAME b TO a")
    assert follow(own) == "public.t: its capture was missing, disabled or not complete"
    owner.execute("INSERT INTO t VALUES (1, 3)")
    relid = owner.execute("SELECT 't'::regclass::oid").fetchone()[0]
    found = f"SELECT a FROM pgstream_changes.changes_{relid} ORDER BY __pgs_change_id"
    assert owner.execute(found).fetchall() == [(None,), (3,)]


def test_names_are_followed_while_something_else_is_broken(owner, own):
    owner.execute("CREATE TABLE t (id int, a int)")
    create(owner, "SELECT a FROM t")
    owner.execute("ALTER TABLE t RENAME a TO b; ALTER TABLE t RENAME TO u")
    for name in ("u", "v"):
        with pytest.raises(SourceChanged, match=r"the column a of public\.\w has been renamed"):
            follow(own)
        owner.execute(f"ALTER TABLE {name} RENAME TO {chr(ord(name) + 1)}")
    owner.execute("ALTER TABLE w RENAME b TO a")
    follow(own)
    for text in texts(own):
        owner.execute(text)


def test_a_stored_column_that_somebody_uses(owner, own):
    """PostgreSQL alters no column that a view uses."""
    owner.execute("CREATE TABLE t (id int, a int)")
    create(owner, "SELECT a FROM t")
    owner.execute("CREATE VIEW mine AS SELECT a FROM st")
    owner.execute("ALTER TABLE t ALTER a TYPE bigint")
    with pytest.raises(SourceChanged, match="used by a view") as raised:
        follow(own)
    assert raised.value.table_id == ids(own)[0]
    owner.execute("DROP VIEW mine")
    assert follow(own) == "public.t: the type of column a has changed"


def test_a_view_that_reads_another_table(owner, own):
    owner.execute("CREATE TABLE t (id int, a int); CREATE TABLE u (id int, a int)")
    owner.execute("CREATE VIEW v AS SELECT id, a FROM t")
    create(owner, "SELECT a FROM v")
    owner.execute("CREATE OR REPLACE VIEW v AS SELECT id, a FROM u")
    assert follow(own) == "view public.v has changed"
    read = own.execute(
        "SELECT d.source_relid::regclass::text, d.columns_used, t.source_relid IS NOT NULL"
        " FROM pgstream.pgs_dependencies d LEFT JOIN pgstream.pgs_change_tracking t"
        " USING (source_relid) ORDER BY 1"
    ).fetchall()
    assert read == [("public.u", ["a", "id"], True), ("public.v", ["a"], False)]
    assert own.execute("SELECT count(*) FROM pgstream.pgs_change_tracking").fetchone() == (1,)


def test_a_view_must_still_be_readable_by_the_owner_of_the_stream_table(database, owner, own):
    owner.execute("CREATE TABLE t (a int); CREATE TABLE hidden (a int)")
    owner.execute("CREATE VIEW v WITH (security_invoker = true) AS SELECT a FROM t")
    owner.execute(f"GRANT SELECT ON t, v TO {ALICE}")
    alice = database.connect(ALICE)
    create(alice, "SELECT a FROM v")
    owner.execute("CREATE OR REPLACE VIEW v WITH (security_invoker = true) AS SELECT a FROM hidden")
    with pytest.raises(SourceChanged, match=r"permission denied for table public.hidden"):
        follow(own)


def test_a_function_that_becomes_volatile(owner, own):
    owner.execute("CREATE TABLE t (a int)")
    body = "CREATE OR REPLACE FUNCTION f(int) RETURNS int LANGUAGE sql %s AS 'SELECT $1'"
    owner.execute(body % "IMMUTABLE")
    create(owner, "SELECT f(a) AS x FROM t")
    owner.execute(body % "VOLATILE")
    with pytest.raises(SourceChanged, match="volatile"):
        follow(own)
    owner.execute(body % "IMMUTABLE COST 5")
    assert follow(own)


def test_partitions(owner, own):
    owner.execute("CREATE TABLE p (id int, a int) PARTITION BY LIST (id)")
    create(owner, "SELECT a FROM p")
    owner.execute("CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1)")
    assert follow(own) is None
    owner.execute("CREATE TABLE p2 PARTITION OF p FOR VALUES IN (2) PARTITION BY LIST (id)")
    owner.execute("CREATE TABLE p3 PARTITION OF p2 DEFAULT")
    assert follow(own) is None
    owner.execute("TRUNCATE p3")  # is captured by now
    relid = owner.execute("SELECT 'p'::regclass::oid").fetchone()[0]
    found = owner.execute(f"SELECT __pgs_action FROM pgstream_changes.changes_{relid}").fetchall()
    assert found == [("T",)]


@pytest.mark.parametrize(
    "ddl",
    [
        "CREATE TABLE p2 PARTITION OF p FOR VALUES IN (2); INSERT INTO p VALUES (2, 2)",
        "CREATE TABLE p2 PARTITION OF p FOR VALUES IN (2); INSERT INTO p VALUES (2, 2);"
        " TRUNCATE p2",
        "CREATE TABLE p2 (id int, a int); ALTER TABLE p ATTACH PARTITION p2 FOR VALUES IN (2)",
        "ALTER TABLE p DETACH PARTITION p1",
        "ALTER TABLE p DETACH PARTITION p1; INSERT INTO p1 VALUES (1, 1);"
        " ALTER TABLE p ATTACH PARTITION p1 FOR VALUES IN (1)",
        "DROP TABLE p1",
    ],
)
def test_partitions_that_come_or_go(owner, own, ddl):
    owner.execute("CREATE TABLE p (id int, a int) PARTITION BY LIST (id)")
    owner.execute("CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1)")
    create(owner, "SELECT a FROM p")
    for statement in ddl.split("; "):
        owner.execute(statement)
    assert follow(own) == "public.p: partitions or children came or went"


def test_a_new_child_is_captured(owner, own):
    owner.execute("CREATE TABLE h (a int)")
    create(owner, "SELECT a FROM h")
    owner.execute("CREATE TABLE kid () INHERITS (h)")
    assert follow(own) is None
    owner.execute("INSERT INTO kid VALUES (1)")
    relid = owner.execute("SELECT 'h'::regclass::oid").fetchone()[0]
    found = owner.execute(f"SELECT __pgs_action FROM pgstream_changes.changes_{relid}").fetchall()
    assert found == [("I",)]


def markers(conn: psycopg.Connection, relation: str) -> set[str]:
    relid = conn.execute("SELECT %s::regclass::oid", (relation,)).fetchone()[0]
    query = f"SELECT DISTINCT __pgs_action FROM pgstream_changes.changes_{relid}"
    return {row[0] for row in conn.execute(query)}


def test_a_partition_that_comes_and_goes_between_refreshes(owner, own):
    """Its shape tells nothing, but its rows were never to be counted."""
    owner.execute("CREATE TABLE p (id int, a int) PARTITION BY LIST (id)")
    create(owner, "SELECT a FROM p")
    owner.execute("CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1)")
    owner.execute("INSERT INTO p VALUES (1, 1)")
    owner.execute("DROP TABLE p1")
    assert (markers(owner, "p"), follow(own)) == ({"S"}, None)


@pytest.mark.parametrize("known", [(), ("CREATE TABLE elder () INHERITS (h)",)], ids=len)
def test_a_child_that_comes_and_goes_between_refreshes(owner, own, known):
    owner.execute("CREATE TABLE h (a int)")
    for statement in known:
        owner.execute(statement)
    create(owner, "SELECT a FROM h")
    owner.execute("INSERT INTO h VALUES (1)")
    owner.execute("CREATE TABLE kid () INHERITS (h)")
    owner.execute("UPDATE h SET a = 2")  # no row of the kid can be among these
    assert markers(owner, "h") == {"I", "U"}
    owner.execute("INSERT INTO kid VALUES (5)")
    owner.execute("UPDATE h SET a = a + 1")
    owner.execute("DROP TABLE kid")
    assert (markers(owner, "h"), follow(own)) == ({"I", "U", "S"}, None)


@pytest.mark.parametrize(
    ("ddl", "commits"),
    [
        ("ALTER TABLE p ATTACH PARTITION loose FOR VALUES IN (2)", False),
        ("ALTER TABLE p DETACH PARTITION p1", False),
        ("CREATE TABLE first () INHERITS (t)", False),
        ("ALTER TABLE t ADD more int; ANALYZE p", True),
    ],
)
def test_what_comes_or_goes_during_a_refresh(owner, own, ddl, commits):
    """A snapshot does not hide a new partition: what was read is no state of the table."""
    owner.execute("CREATE TABLE t (a int); CREATE TABLE loose (id int, a int)")
    owner.execute("CREATE TABLE p (id int, a int) PARTITION BY LIST (id)")
    owner.execute("CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1)")
    create(owner, "SELECT p.a FROM p, t")
    table = store.stream_table(own, "st")
    own.execute("BEGIN")
    for statement in ddl.split("; "):
        owner.execute(statement)
    assert store.advance(own, table, {"sources": {}}, None) is commits
    own.execute("ROLLBACK")
    if not commits:
        follow(own)
        assert store.advance(own, store.stream_table(own, "st"), {"sources": {}}, None)


def test_triggers_that_were_disabled_for_a_while(owner, own):
    """As pg_restore --disable-triggers does. All readers start again, whoever notices."""
    owner.execute("CREATE TABLE t (a int)")
    create(owner, "SELECT a FROM t")
    same = "SELECT pgstream._surely_same(%s)"
    assert own.execute(same, (ids(own),)).fetchone() == (ids(own),)
    owner.execute("ALTER TABLE t DISABLE TRIGGER ALL")
    owner.execute("INSERT INTO t VALUES (1)")
    owner.execute("ALTER TABLE t ENABLE TRIGGER ALL")
    assert own.execute(same, (ids(own),)).fetchone() == ([],)
    create(owner, "SELECT a FROM t", "another")
    query = "SELECT pgs_name, reinit_reason FROM pgstream.pgs_stream_tables ORDER BY pgs_id"
    assert own.execute(query).fetchall() == [
        ("st", "capture of public.t was missing or disabled"),
        ("another", None),
    ]
    owner.execute("ALTER TABLE t DISABLE TRIGGER ALL; ALTER TABLE t ENABLE TRIGGER ALL")
    follow_ddl(own, changed_shapes(own, ids(own)[:1]))
    assert all(reason for _, reason in own.execute(query))
    assert changed_shapes(own, ids(own)) == []


def test_triggers_that_were_disabled(owner, own):
    owner.execute("CREATE TABLE t (a int)")
    create(owner, "SELECT a FROM t")
    owner.execute("ALTER TABLE t DISABLE TRIGGER ALL")
    assert follow(own) == "public.t: its capture was missing, disabled or not complete"
    owner.execute("INSERT INTO t VALUES (1)")
    relid = owner.execute("SELECT 't'::regclass::oid").fetchone()[0]
    assert owner.execute(f"SELECT count(*) FROM pgstream_changes.changes_{relid}").fetchone() == (
        1,
    )
