import threading

import psycopg
import pytest

from pgstream.database import migrate, sql_functions
from pgstream.database.connection import SESSION_SETTINGS, connect, server_settings
from pgstream.errors import ConnectionFailed, NotInstalled, PgStreamError, VersionMismatch

pytestmark = pytest.mark.postgres

OWNER = "pgs_test_owner"
ALL = [*(migration.name for migration in migrate.migrations()), "functions"]

BEFORE_THE_SQUASH = (
    "schemas catalog checks capture create change wait status rights views top canonical"
    " volatility aggregates search_path capture_types"
).split()

# All that could differ on user tables and in the database after an uninstall.
TRACES = """
SELECT 'trigger', tgrelid::regclass::text, tgname::text FROM pg_trigger
UNION ALL
SELECT 'column', attrelid::regclass::text, attname::text || ' ' || format_type(atttypid, atttypmod)
  FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid
 WHERE attnum > 0 AND relnamespace <> 'pg_catalog'::regnamespace
   AND relnamespace <> 'pg_toast'::regnamespace
UNION ALL
SELECT 'class', oid::regclass::text, relacl::text FROM pg_class
 WHERE relnamespace <> 'pg_catalog'::regnamespace
UNION ALL SELECT 'function', oid::regprocedure::text, NULL FROM pg_proc
UNION ALL SELECT 'schema', nspname::text, nspacl::text FROM pg_namespace
 WHERE nspname NOT LIKE 'pg_temp%' AND nspname NOT LIKE 'pg_toast_temp%'
ORDER BY 1, 2, 3
"""


def traces(conn: psycopg.Connection) -> list[tuple]:
    return conn.execute(TRACES).fetchall()


def test_files_are_numbered_without_gaps_and_open_with_one_sentence():
    found = migrate.migrations()
    assert [m.number for m in found] == list(range(1, len(found) + 1))
    for m in found:
        first, second, *_ = m.text.splitlines()
        assert first.startswith("-- ")
        assert first.endswith(".")
        assert first.count(". ") == 0
        assert second == ""


def test_install_runs_all_once(bare_database):
    conn = bare_database.connect(OWNER)
    assert migrate.installed_version(conn) is None
    assert migrate.install(conn) == ALL
    assert migrate.install(conn) == []
    assert migrate.installed_version(conn) == len(migrate.migrations())
    migrate.require(conn)


def test_a_new_migration_is_an_upgrade(bare_database, monkeypatch):
    conn = bare_database.connect(OWNER)
    every = migrate.migrations()
    assert migrate.install(conn) == ALL
    more = migrate.Migration(
        every[-1].number + 1,
        "one_more",
        "ALTER TABLE pgstream.pgs_stream_tables ADD COLUMN one_more int",
    )
    monkeypatch.setattr(migrate, "migrations", lambda: (*every, more))
    with pytest.raises(NotInstalled, match="older"):
        migrate.require(conn)
    assert migrate.install(conn) == ["one_more", "functions"]
    migrate.require(conn)
    # The view shows all columns of the table, so it was made again.
    conn.execute("SELECT one_more FROM pgstream.stream_tables_info")


def test_install_is_one_transaction(bare_database, monkeypatch):
    conn = bare_database.connect(OWNER)
    before = traces(conn)

    def broken(*_):
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(sql_functions, "apply", broken)
        with pytest.raises(RuntimeError):
            migrate.install(conn)
    assert traces(conn) == before
    assert migrate.install(conn) == ALL


def test_uninstall_needs_no_functions(bare_database):
    conn = bare_database.connect(OWNER)
    before = traces(conn)
    migrate.install(conn)
    conn.execute("DROP FUNCTION pgstream._relation_name(oid)")
    migrate.uninstall(conn)
    assert traces(conn) == before


def test_failed_migration_leaves_nothing(bare_database, monkeypatch):
    conn = bare_database.connect(OWNER)
    before = traces(conn)
    broken = migrate.Migration(1, "broken", "CREATE SCHEMA pgstream; SELECT 1/0;")
    monkeypatch.setattr(migrate, "migrations", lambda: (broken,))
    with pytest.raises(psycopg.errors.DivisionByZero):
        migrate.install(conn)
    assert traces(conn) == before
    locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"
    assert conn.execute(locks).fetchone() == (0,)


def test_concurrent_installs_wait_for_each_other(bare_database):
    results: list[list[str]] = []
    connections = [bare_database.connect(OWNER) for _ in range(4)]
    threads = [
        threading.Thread(target=lambda c=c: results.append(migrate.install(c))) for c in connections
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(len(r) for r in results) == [0, 0, 0, len(ALL)]


def test_install_refuses_a_transaction(bare_database):
    conn = bare_database.connect(OWNER, autocommit=False)
    conn.execute("SELECT 1")
    with pytest.raises(PgStreamError, match="inside a transaction"):
        migrate.install(conn)
    conn.rollback()
    assert migrate.install(conn)
    assert conn.autocommit is False
    assert migrate.installed_version(bare_database.connect(OWNER)) == len(migrate.migrations())


def test_require_says_what_is_wrong(bare_database):
    conn = bare_database.connect(OWNER)
    with pytest.raises(NotInstalled, match="no pgstream"):
        migrate.require(conn)
    migrate.install(conn)
    conn.execute("INSERT INTO pgstream.pgs_migrations (number, name) VALUES (9999, 'future')")
    with pytest.raises(VersionMismatch, match="newer"):
        migrate.require(conn)
    with pytest.raises(VersionMismatch, match="newer"):
        migrate.install(conn)


@pytest.mark.parametrize("ran", [1, 2, 16])
def test_a_catalog_from_before_the_squash_must_be_installed_again(bare_database, ran):
    """It has other migrations under the same numbers."""
    conn = bare_database.connect(OWNER)
    migrate.install(conn)
    conn.execute("DROP TABLE pgstream.pgs_functions")
    conn.execute("DELETE FROM pgstream.pgs_migrations")
    conn.execute(
        "INSERT INTO pgstream.pgs_migrations (number, name) SELECT number, name"
        " FROM unnest(%s::text[]) WITH ORDINALITY AS old(name, number) WHERE number <= %s",
        (BEFORE_THE_SQUASH, ran),
    )
    for attempt in (migrate.require, migrate.install):
        with pytest.raises(VersionMismatch, match="cannot be upgraded") as refused:
            attempt(conn)
        assert "pgstream init --uninstall, then pgstream init" in refused.value.hint
    migrate.uninstall(conn)
    assert migrate.install(conn) == ALL


def test_uninstall_leaves_no_trace(bare_database):
    conn = bare_database.connect(OWNER)
    conn.execute(
        "CREATE TABLE a (id int PRIMARY KEY, t text, g int GENERATED ALWAYS AS (id + 1) STORED)"
    )
    conn.execute("CREATE TABLE p (id int, k int) PARTITION BY LIST (k)")
    conn.execute("CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1)")
    conn.execute(
        "CREATE FUNCTION noop() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'"
    )
    conn.execute("CREATE TRIGGER mine BEFORE INSERT ON a FOR EACH ROW EXECUTE FUNCTION noop()")
    conn.execute("INSERT INTO a VALUES (1, 'x'), (2, 'y')")
    conn.execute("INSERT INTO p VALUES (1, 1)")
    before = traces(conn)

    migrate.install(conn)
    conn.execute("SELECT pgstream.create_stream_table('s1', 'SELECT id, t FROM a')")
    conn.execute("SELECT pgstream.create_stream_table('s2', 'SELECT s1.id FROM s1, p')")
    conn.execute("CREATE VIEW on_top AS SELECT id FROM s2")
    conn.execute("CREATE TABLE pgstream_state.state_1 (x int)")
    assert traces(conn) != before
    migrate.uninstall(conn)

    assert traces(conn) == before
    assert conn.execute("SELECT * FROM a ORDER BY 1").fetchall() == [(1, "x", 2), (2, "y", 3)]
    conn.execute("INSERT INTO a VALUES (3, 'z')")
    assert migrate.installed_version(conn) is None
    migrate.uninstall(conn)  # nothing to do
    assert migrate.install(conn)


def test_uninstall_needs_no_ownership_of_the_sources(bare_database):
    admin = bare_database.connect()
    admin.execute("CREATE TABLE theirs (id int)")
    admin.execute(f"GRANT SELECT, TRIGGER ON theirs TO {OWNER}")
    before = traces(admin)
    conn = bare_database.connect(OWNER)
    migrate.install(conn)
    conn.execute("SELECT pgstream.create_stream_table('s', 'SELECT id FROM theirs')")
    migrate.uninstall(conn)
    assert traces(admin) == before


def test_connect_sets_the_session(bare_database):
    conn = connect(bare_database.dsn, application_name="me")
    with conn:
        for name, value in {**SESSION_SETTINGS, "application_name": "me"}.items():
            assert conn.execute("SELECT current_setting(%s)", (name,)).fetchone() == (value,)


def test_connect_says_that_nobody_answers(tmp_path):
    with pytest.raises(ConnectionFailed):
        connect(f"host={tmp_path} dbname=x connect_timeout=2")


def test_server_settings_gives_what_is_set(bare_database):
    conn = bare_database.connect()
    conn.execute("SET pg_stream.min_schedule_seconds = 5")
    assert server_settings(conn, ["min_schedule_seconds", "other"]) == {"min_schedule_seconds": "5"}
