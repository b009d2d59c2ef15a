"""change_buffer_schema: where new buffers are created, and that old ones stay where they are."""

from __future__ import annotations

import psycopg
import pytest

from pgstream.catalog.repair import repair
from pgstream.database import migrate
from pgstream.database.connection import connect
from pgstream.errors import SettingError
from played_reader import CHANGES, PlayedReader
from wal_capture import REPLICATOR, mode

pytestmark = pytest.mark.postgres

OWNER, ALICE = "pgs_test_owner", "pgs_test_alice"
PLACES = """
SELECT n.nspname, t.source_relid::regclass::text
FROM pgstream.pgs_change_tracking t JOIN pg_class c ON c.relname = 'changes_' || t.source_relid
JOIN pg_namespace n ON n.oid = c.relnamespace ORDER BY 2
"""


def places(conn: psycopg.Connection) -> dict[str, str]:
    return {table: schema for schema, table in conn.execute(PLACES)}


def schemas(conn: psycopg.Connection) -> list[str]:
    rows = conn.execute(
        "SELECT nspname FROM pg_namespace WHERE nspname !~ '^(pg_|information_schema|public)'"
        " ORDER BY 1"
    )
    return [row[0] for row in rows]


def test_a_schema_of_that_name_that_is_somebody_elses(bare_database):
    """It stays as it is; pgstream's have another name."""
    admin = bare_database.connect()
    admin.execute(f"CREATE SCHEMA pgstream_changes AUTHORIZATION {ALICE}")
    conn = bare_database.connect(OWNER)
    with pytest.raises(SettingError, match="pgstream_changes is not pgstream's") as refused:
        migrate.install(conn)
    assert "change_buffer_schema" in (refused.value.hint or "")
    assert schemas(conn) == ["pgstream_changes"]
    migrate.install(conn, "elsewhere")
    conn.execute("CREATE TABLE t (a int)")
    conn.execute("SELECT pgstream.create_stream_table('st', 'SELECT a FROM t')")
    assert places(conn) == {"t": "elsewhere"}
    migrate.uninstall(conn)
    assert schemas(conn) == ["pgstream_changes"]
    assert conn.execute("SELECT FROM pg_trigger WHERE tgname LIKE '%pgs%'").fetchall() == []


def test_buffers_stay_where_they_are(database, owner, alice):
    owner.execute("CREATE TABLE old (id int, a int); CREATE TABLE new (id int, a int)")
    owner.execute("SELECT pgstream.create_stream_table('of_old', 'SELECT id, a FROM old')")
    assert migrate.install(owner, "elsewhere") == []
    owner.execute("SELECT pgstream.create_stream_table('of_new', 'SELECT id, a FROM new')")
    owner.execute("SELECT pgstream.create_stream_table('more', 'SELECT id FROM old')")
    assert places(owner) == {"old": "pgstream_changes", "new": "elsewhere"}
    with connect(database.dsn_as(OWNER)) as own, connect(database.dsn_as(OWNER)) as reader:
        for name, table in (("of_old", "old"), ("of_new", "new")):
            played = PlayedReader(reader, own, name, ("id", "a"))
            played.refresh()
            owner.execute(f"INSERT INTO {table} VALUES (1, 1), (2, 2)")
            owner.execute(f"UPDATE {table} SET a = 5 WHERE id = 1")
            assert played.refresh() == CHANGES
        sizes = "SELECT source_table, pending_rows FROM pgstream.change_buffer_sizes()"
        assert dict(alice.execute(sizes).fetchall()) == {"public.old": 4, "public.new": 4}
        health = "SELECT alert FROM pgstream.check_cdc_health()"
        assert alice.execute(health).fetchall() == [(None,), (None,)]
        assert repair(own) == []
        owner.execute("SELECT pgstream.drop_stream_table('of_new')")
        assert places(owner) == {"old": "pgstream_changes"}
        migrate.uninstall(own)
    assert schemas(owner) == []


def test_nobody_else_gets_there(owner, alice):
    migrate.install(owner, "elsewhere")
    owner.execute("CREATE TABLE t (a int); GRANT SELECT, INSERT ON t TO PUBLIC")
    owner.execute("SELECT pgstream.create_stream_table('st', 'SELECT a FROM t')")
    alice.execute("INSERT INTO t VALUES (1)")
    relid = owner.execute("SELECT 't'::regclass::oid").fetchone()[0]
    for statement in (
        f"SELECT * FROM elsewhere.changes_{relid}",
        "CREATE TABLE elsewhere.mine (a int)",
        "SELECT pgstream._use_buffer_schema('public')",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            alice.execute(statement)
    alice.execute("SET pg_stream.change_buffer_schema = 'public'")  # says nothing
    with pytest.raises(psycopg.Error, match="is reserved"):
        owner.execute("SELECT pgstream.create_stream_table('elsewhere.st', 'SELECT a FROM t')")
    with pytest.raises(psycopg.Error, match="belongs to pgstream"):
        owner.execute(
            f"SELECT pgstream.create_stream_table('x', 'SELECT a FROM elsewhere.changes_{relid}')"
        )


def test_from_the_wal(wal_database, replicator):
    migrate.install(replicator, "elsewhere")
    replicator.execute("CREATE TABLE t (id int, a int)")
    replicator.execute("ALTER TABLE t REPLICA IDENTITY FULL")
    replicator.execute("SELECT pgstream.create_stream_table('st', 'SELECT id, a FROM t')")
    dsn = wal_database.dsn_as(REPLICATOR)
    with connect(dsn) as own, connect(dsn) as reader:
        played = PlayedReader(reader, own, "st", ("id", "a"), "auto")
        for _ in range(2):
            played.refresh()
        assert mode(own, "public.t") == "WAL"
        replicator.execute("INSERT INTO t VALUES (1, 1), (2, 2)")
        replicator.execute("UPDATE t SET a = 5 WHERE id = 1")
        assert played.refresh() == CHANGES
        assert places(replicator) == {"t": "elsewhere"}
        replicator.execute("SELECT pgstream.drop_stream_table('st')")
