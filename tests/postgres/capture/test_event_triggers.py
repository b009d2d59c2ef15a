"""DDL is noticed at once, and refused if somebody wants that, where a superuser has installed."""

import psycopg
import pytest

from pgstream.database import migrate
from wal_capture import mode, settled, slots, triggers

pytestmark = pytest.mark.postgres

ALICE = "pgs_test_alice"
CHANGES = [
    "ALTER TABLE t RENAME a TO b",
    "ALTER TABLE t DROP COLUMN a",
    "ALTER TABLE t ALTER a TYPE bigint",
    "ALTER TABLE t ENABLE ROW LEVEL SECURITY",
    "DROP TABLE t",
    "CREATE OR REPLACE VIEW v AS SELECT id FROM u WHERE id > 0",
    "DROP VIEW v",
]
HARMLESS = [
    "ALTER TABLE t ADD COLUMN c int",
    "ALTER TABLE t DROP COLUMN id",
    "ALTER TABLE t RENAME TO other",
    "ALTER TABLE t ADD CHECK (a > 0)",
    "CREATE TABLE another (a int)",
    "CREATE VIEW w AS SELECT a FROM t",
    "DROP TABLE loose",
]


@pytest.fixture
def admin(bare_database):
    """A superuser, who has installed pgstream."""
    conn = bare_database.connect()
    migrate.install(conn)
    conn.execute(
        "CREATE TABLE t (id int, a int); CREATE TABLE u (id int); CREATE TABLE loose (id int);"
        " CREATE VIEW v AS SELECT id FROM u"
    )
    conn.execute("SELECT pgstream.create_stream_table('st', 'SELECT a FROM t, v')")
    return conn


def marked(conn: psycopg.Connection) -> bool:
    return conn.execute("SELECT needs_reinit FROM pgstream.pgs_stream_tables").fetchone()[0]


@pytest.mark.parametrize("ddl", CHANGES)
def test_readers_are_marked(admin, ddl):
    admin.execute(ddl)
    assert marked(admin)


@pytest.mark.parametrize("ddl", HARMLESS)
def test_what_they_do_not_see_is_not_marked(admin, ddl):
    admin.execute("SET pg_stream.block_source_ddl = on")
    admin.execute(ddl)
    assert not marked(admin)


@pytest.mark.parametrize("ddl", CHANGES)
def test_ddl_is_refused(admin, ddl):
    admin.execute("SET pg_stream.block_source_ddl = on")
    with pytest.raises(
        psycopg.Error, match=r"would change for those who read it: public\.st"
    ) as raised:
        admin.execute(ddl)
    assert raised.value.sqlstate == "PS023"
    assert "public.st" in raised.value.diag.message_detail
    assert "block_source_ddl = off" in raised.value.diag.message_hint
    assert not marked(admin)
    admin.execute("SELECT pgstream.drop_stream_table('st')")
    admin.execute(ddl)


@pytest.fixture
def published(admin):
    """`t` is captured from the WAL; the slot, of which a server has few, ends with the test."""
    if admin.execute("SHOW wal_level").fetchone() != ("logical",):
        pytest.skip("the server has no wal_level = logical")
    admin.execute("ALTER TABLE t REPLICA IDENTITY FULL")
    admin.execute("UPDATE pgstream.pgs_stream_tables SET is_populated = true")
    settled(admin, "auto")
    yield admin
    admin.execute("DROP TABLE t CASCADE")
    admin.execute("SELECT pgstream.drop_stream_table('st')")
    assert slots(admin) == []


@pytest.mark.parametrize(
    ("ddl", "since"),
    [
        ("ALTER TABLE t REPLICA IDENTITY NOTHING", 0),
        ("ALTER TABLE t REPLICA IDENTITY DEFAULT", 0),
        ("ALTER TABLE t ADD w int GENERATED ALWAYS AS (id + 1) VIRTUAL", 180000),
    ],
)
def test_no_write_fails_because_a_table_is_published(published, ddl, since):
    """Triggers take over at once."""
    if published.info.server_version < since:
        pytest.skip("virtual columns are new in PostgreSQL 18")
    published.execute("INSERT INTO t VALUES (1, 1)")
    assert (mode(published, "t"), triggers(published, "t")) == ("WAL", 0)
    published.execute(ddl)
    assert (mode(published, "t"), triggers(published, "t")) == ("TRIGGER", 4)
    published.execute("UPDATE t SET a = 2")
    published.execute("DELETE FROM t")
    assert marked(published)


def test_other_ddl_leaves_a_table_published(published):
    published.execute("ALTER TABLE t ADD w int; ALTER TABLE u REPLICA IDENTITY NOTHING")
    assert (mode(published, "t"), marked(published)) == ("WAL", False)


def test_others_alter_their_tables(bare_database, admin):
    """What the event triggers call is not theirs to call."""
    alice = bare_database.connect(ALICE)
    alice.execute("CREATE TABLE hers (a int)")
    alice.execute("SELECT pgstream.create_stream_table('of_hers', 'SELECT a FROM hers')")
    alice.execute("ALTER TABLE hers ALTER a TYPE bigint")
    query = "SELECT reinit_reason FROM pgstream.pgs_stream_tables WHERE pgs_name = 'of_hers'"
    assert alice.execute(query).fetchone() == ("DDL on public.hers",)


def test_a_fault_of_ours_does_not_stop_ddl(admin):
    admin.execute("ALTER TABLE pgstream.pgs_stream_tables ADD CHECK (NOT needs_reinit)")
    admin.execute("ALTER TABLE t ALTER a TYPE bigint")


def test_uninstalling_removes_them(admin):
    migrate.uninstall(admin)
    assert admin.execute("SELECT count(*) FROM pg_event_trigger").fetchone() == (0,)


def test_no_superuser_has_none(owner):
    assert owner.execute("SELECT count(*) FROM pg_event_trigger").fetchone() == (0,)
