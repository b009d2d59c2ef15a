"""Repair: after pg_dump and pg_restore, on another server or the same; after lost triggers."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from pgstream.catalog.repair import Repaired, repair
from pgstream.database import migrate
from pgstream.database.connection import connect
from pgstream.database.embedded import EmbeddedServer
from pgstream.database.server_programs import environment, programs, run_program
from pgstream.errors import RepairNeeded
from wal_capture import mode, settled, slots

pytestmark = pytest.mark.postgres

SET_UP = """
CREATE SCHEMA app;
CREATE TABLE app.t (id int PRIMARY KEY, g int);
CREATE TABLE app.part (id int, g int) PARTITION BY RANGE (id);
CREATE TABLE app.part_1 PARTITION OF app.part FOR VALUES FROM (0) TO (100);
CREATE VIEW app.v AS SELECT id, g FROM app.t WHERE id > 0;
INSERT INTO app.t SELECT i, i % 3 FROM generate_series(1, 9) i;
SELECT pgstream.create_stream_table('app.low', 'SELECT id, g FROM app.v');
SELECT pgstream.create_stream_table('app.high', 'SELECT g, count(*) AS n FROM app.low GROUP BY g');
SELECT pgstream.create_stream_table('app.parts', 'SELECT p.id, t.g FROM app.part p JOIN app.t
                                                  ON t.id = p.id');
SELECT pgstream.create_stream_table('app.whole', 'SELECT g FROM app.t', refresh_mode => 'FULL');
"""
NAMES = ["app.low", "app.high", "app.parts", "app.whole"]
SOURCES = """
SELECT t.pgs_name, array_agg(d.source_relid::regclass::text ORDER BY d.source_relid::regclass::text)
FROM pgstream.pgs_stream_tables t JOIN pgstream.pgs_dependencies d USING (pgs_id)
WHERE d.source_type <> 'VIEW' GROUP BY 1
"""
READ = {
    "low": ["app.t"],
    "high": ["app.low"],
    "parts": ["app.part", "app.t"],
    "whole": ["app.t"],
}


@pytest.fixture(scope="module")
def another_server() -> Iterator[EmbeddedServer]:
    home = tempfile.mkdtemp(prefix="pgstream_other_")
    try:
        with EmbeddedServer.start(home) as server:
            yield server
    finally:
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def shop(server: EmbeddedServer) -> Iterator[psycopg.Connection]:
    """A database of a superuser, so that a dump brings no roles."""
    with connect(server.dsn) as admin:
        admin.execute("DROP DATABASE IF EXISTS shop WITH (FORCE)")
        admin.execute("CREATE DATABASE shop TEMPLATE template0")
        with psycopg.connect(server.dsn_for("shop"), autocommit=True) as conn:
            migrate.install(conn)
            for statement in filter(str.strip, SET_UP.split(";")):
                conn.execute(statement.encode())
            seen(conn)
            yield conn
        admin.execute("DROP DATABASE shop WITH (FORCE)")


def seen(conn: psycopg.Connection) -> None:
    """As if all of them were refreshed now."""
    snapshot = conn.execute("SELECT pg_current_snapshot()::text").fetchone()[0]
    entry = json.dumps({"snapshot": snapshot, "lsn": "0/1", "at": "2025-01-31T12:00:00+00:00"})
    conn.execute(
        "UPDATE pgstream.pgs_stream_tables t SET is_populated = true, status = 'ACTIVE', frontier ="
        " jsonb_build_object('sources', (SELECT jsonb_object_agg(d.source_relid::text, %s::jsonb)"
        " FROM pgstream.pgs_dependencies d WHERE d.pgs_id = t.pgs_id))",
        (entry,),
    )


def copy(source: str, target: EmbeddedServer, name: str, path: Path) -> str:
    """Dumps the database and restores it; its address."""
    dump = path / "dump"
    command = [programs() / "pg_dump", "--format=custom", f"--file={dump}", source]
    subprocess.run(command, check=True, env=environment())
    with connect(target.dsn) as admin:
        admin.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())
        admin.execute(f"CREATE DATABASE {name} TEMPLATE template0".encode())
    restore = [programs() / "pg_restore", f"--dbname={target.dsn_for(name)}", dump]
    subprocess.run(restore, check=True, env=environment())
    return target.dsn_for(name)


def assert_whole(conn: psycopg.Connection) -> None:
    """Everything is found by number again, and writes are captured."""
    rows = conn.execute(
        "SELECT pgs_name, pgs_relid::regclass::text FROM pgstream.pgs_stream_tables"
    )
    assert dict(rows.fetchall()) == {name.split(".")[1]: name for name in NAMES}
    assert dict(conn.execute(SOURCES).fetchall()) == READ
    alerts = conn.execute("SELECT source_table, alert FROM pgstream.check_cdc_health()").fetchall()
    assert sorted(alerts) == [("app.low", None), ("app.part", None), ("app.t", None)]
    conn.execute("INSERT INTO app.t VALUES (50, 1)")
    conn.execute("INSERT INTO app.part VALUES (7, 7)")
    sizes = conn.execute("SELECT source_table, pending_rows FROM pgstream.change_buffer_sizes()")
    assert sorted(sizes.fetchall()) == [("app.low", 0), ("app.part", 1), ("app.t", 1)]
    objects = conn.execute(
        "SELECT count(*) FROM pg_class WHERE relnamespace = 'pgstream_changes'::regnamespace"
        " AND relkind = 'r'"
    ).fetchone()
    assert objects == (3,)  # nothing is left of the old ones
    triggers = conn.execute(
        "SELECT count(*) FROM pg_trigger WHERE tgrelid = 'app.t'::regclass"
        " AND tgname LIKE '%capture%'"
    ).fetchone()
    assert triggers == (4,)


def to_start_again(conn: psycopg.Connection) -> list[str]:
    rows = conn.execute(
        "SELECT 'app.' || pgs_name FROM pgstream.pgs_stream_tables"
        " WHERE needs_reinit AND frontier IS NULL ORDER BY pgs_id"
    )
    return [name for (name,) in rows.fetchall()]


def test_a_dump_restored_on_another_server(server, shop, another_server, tmp_path):
    dsn = copy(server.dsn_for("shop"), another_server, "restored", tmp_path)
    with connect(dsn) as own:
        with pytest.raises(RepairNeeded):
            migrate.require(own)
        assert repair(own) == [Repaired(name, "the server is another one") for name in NAMES]
        migrate.require(own)
        assert to_start_again(own) == NAMES
        assert_whole(own)
        assert repair(own) == []


def test_a_dump_restored_on_the_same_server(server, shop, tmp_path):
    dsn = copy(server.dsn_for("shop"), server, "restored", tmp_path)
    with connect(dsn) as own:
        migrate.require(own)
        assert [each.name for each in repair(own)] == NAMES
        assert to_start_again(own) == NAMES
        assert_whole(own)
        assert repair(own) == []
    with connect(server.dsn) as admin:
        admin.execute("DROP DATABASE restored WITH (FORCE)")


@pytest.mark.parametrize("beside", [False, True], ids=["another server", "the same"])
def test_a_dump_of_sources_that_the_wal_captured(server, shop, another_server, tmp_path, beside):
    """A dump has the publication, and not the slot. Triggers take over."""
    shop.execute("ALTER TABLE app.t REPLICA IDENTITY FULL")
    settled(shop, "auto")
    assert (mode(shop, "app.t"), len(slots(shop))) == ("WAL", 1)
    name = "beside" if beside else "restored"
    dsn = copy(server.dsn_for("shop"), server if beside else another_server, name, tmp_path)
    with connect(dsn) as own:
        assert [each.name for each in repair(own)] == NAMES
        assert to_start_again(own) == NAMES
        assert_whole(own)
        assert mode(own, "app.t") == "TRIGGER"
        own.execute("ALTER TABLE app.t REPLICA IDENTITY NOTHING")
        own.execute("UPDATE app.t SET g = 0")  # nothing publishes it
        assert (repair(own), slots(own)) == ([], [])
        assert own.execute("SELECT count(*) FROM pgstream.pgs_wal").fetchone() == (0,)
    assert (mode(shop, "app.t"), len(slots(shop))) == ("WAL", 1)
    with connect(server.dsn_for("shop")) as own:
        assert repair(own) == []
    assert mode(shop, "app.t") == "WAL"
    with connect(server.dsn) as admin:
        admin.execute("DROP DATABASE IF EXISTS beside WITH (FORCE)")
    migrate.uninstall(shop)
    assert slots(shop) == []


def test_what_is_whole_stays_as_it_is(server, shop):
    frontiers = shop.execute("SELECT frontier FROM pgstream.pgs_stream_tables").fetchall()
    with connect(server.dsn_for("shop")) as own:
        assert repair(own) == []
    assert shop.execute("SELECT frontier FROM pgstream.pgs_stream_tables").fetchall() == frontiers
    assert to_start_again(shop) == []


def test_lost_triggers_and_buffers(server, shop):
    relid = shop.execute("SELECT 'app.part'::regclass::oid").fetchone()[0]
    shop.execute(f"DROP TRIGGER __pgs_capture_update_{relid} ON app.part")
    with connect(server.dsn_for("shop")) as own:
        fault = "app.part: trigger_missing (update)"
        assert repair(own) == [Repaired("app.parts", fault)]
        assert to_start_again(own) == ["app.parts"]
        assert_whole(own)


def test_a_lost_buffer(server, shop):
    """All who read the source start again."""
    relid = shop.execute("SELECT 'app.t'::regclass::oid").fetchone()[0]
    shop.execute(f"DROP TABLE pgstream_changes.changes_{relid}")
    with connect(server.dsn_for("shop")) as own:
        fault = "app.t: buffer_missing"
        names = ["app.low", "app.parts", "app.whole"]
        assert repair(own) == [Repaired(name, fault) for name in names]
        assert to_start_again(own) == names
        assert_whole(own)


def test_a_source_that_was_restored_by_itself(server, shop):
    """Dropped and made again: another table of the same name."""
    shop.execute("DROP TABLE app.part")
    shop.execute(
        "CREATE TABLE app.part (id int, g int) PARTITION BY RANGE (id);"
        "CREATE TABLE app.part_1 PARTITION OF app.part FOR VALUES FROM (0) TO (100)"
    )
    with connect(server.dsn_for("shop")) as own:
        own.execute("UPDATE pgstream.pgs_stream_tables SET status = 'ERROR', last_error = 'gone'")
        assert [each.name for each in repair(own)] == ["app.parts"]
        assert_whole(own)
        query = "SELECT pgs_name FROM pgstream.pgs_stream_tables WHERE status = 'ACTIVE'"
        assert own.execute(query).fetchall() == [("parts",)]  # what was repaired goes on


def test_a_stream_table_that_cannot_be_repaired_is_named(server, shop, another_server, tmp_path):
    shop.execute("DROP TABLE app.part")
    dsn = copy(server.dsn_for("shop"), another_server, "restored", tmp_path)
    with connect(dsn) as own:
        done = {each.name: each.error for each in repair(own)}
        assert [name for name, error in done.items() if error] == ["app.parts"]
        assert "app.part" in (done["app.parts"] or "")
        row = own.execute(
            "SELECT status FROM pgstream.pgs_stream_tables WHERE pgs_name = 'parts'"
        ).fetchone()
        assert row == ("ERROR",)
        assert to_start_again(own) == NAMES


def test_unlogged_sources_that_a_crash_has_emptied():
    home = tempfile.mkdtemp(prefix="pgstream_crash_")
    try:
        with EmbeddedServer.start(home) as server:
            with psycopg.connect(server.dsn, autocommit=True) as conn:
                migrate.install(conn)
                conn.execute("CREATE UNLOGGED TABLE u1 (id int)")
                conn.execute("CREATE UNLOGGED TABLE u2 (id int)")
                conn.execute("CREATE TABLE t (id int)")
                for name, query in (
                    ("a", "SELECT u1.id FROM u1 JOIN u2 USING (id) JOIN t USING (id)"),
                    ("b", "SELECT id FROM t"),
                ):
                    conn.execute("SELECT pgstream.create_stream_table(%s, %s)", (name, query))
                seen(conn)
                assert conn.execute("SELECT pgstream._notice_crash()").fetchone() == (0,)
            run_program(server.data_directory, "pg_ctl", "stop", "-m", "immediate", "-w")
            with (
                EmbeddedServer.start(home) as again,
                psycopg.connect(again.dsn, autocommit=True) as conn,
            ):
                assert conn.execute("SELECT pgstream._notice_crash()").fetchone() == (1,)
                assert conn.execute("SELECT pgstream._notice_crash()").fetchone() == (0,)
                left = conn.execute(
                    "SELECT s.pgs_name, k::oid::regclass::text FROM pgstream.pgs_stream_tables s,"
                    " jsonb_object_keys(frontier -> 'sources') k ORDER BY 1"
                ).fetchall()
                assert left == [("a", "t"), ("b", "t")]
    finally:
        shutil.rmtree(home, ignore_errors=True)
