"""The embedded server: its life, its paths, and what it is set to."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from adbc_driver_postgresql import dbapi

from pgstream.database.embedded import EmbeddedServer
from pgstream.errors import EmbeddedServerFailed

pytestmark = pytest.mark.postgres

ANOTHER_PROCESS = """
import sys
from pgstream.database.embedded import EmbeddedServer
server = EmbeddedServer.start(sys.argv[1])
print(server.started, server.dsn, flush=True)
sys.stdin.readline()
server.stop()
"""


def value(dsn: str, query: str) -> object:
    with psycopg.connect(dsn) as connection:
        row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return row[0]


def postmaster(server: EmbeddedServer) -> int:
    return int((server.data_directory / "postmaster.pid").read_text().splitlines()[0])


def is_running(server: EmbeddedServer) -> bool:
    return (server.data_directory / "postmaster.pid").exists()


class Another:
    """A handle on the same server in another process."""

    def __init__(self, path: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", ANOTHER_PROCESS, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        started, self.dsn = self.process.stdout.readline().split()
        self.started = started == "True"

    def stop(self) -> None:
        self.process.communicate("\n", timeout=60)
        assert self.process.returncode == 0

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    with EmbeddedServer.start(tmp_path_factory.mktemp("embedded")) as server:
        yield server


def test_it_is_postgresql_18_with_logical_wal(server: EmbeddedServer) -> None:
    assert str(value(server.dsn, "SHOW server_version")).startswith("18.")
    assert value(server.dsn, "SHOW wal_level") == "logical"
    assert value(server.dsn, "SHOW fsync") == "on"
    assert value(server.dsn, "SHOW max_connections") == "100"
    assert value(server.dsn, "SHOW server_encoding") == "UTF8"
    assert value(server.dsn, "SELECT current_database()") == "postgres"


def test_letters_sort_by_code_point_and_have_case(server: EmbeddedServer) -> None:
    assert value(server.dsn, "SELECT 'a' > 'B'") is True
    assert value(server.dsn, "SELECT upper('é')") == "É"


def test_it_listens_on_a_private_socket_only(server: EmbeddedServer) -> None:
    assert value(server.dsn, "SHOW listen_addresses") == ""
    assert server.socket_directory.stat().st_mode & 0o077 == 0


def test_psql_and_adbc_take_the_dsn(server: EmbeddedServer) -> None:
    psql = [server.bin_directory / "psql", server.dsn, "-Atc", "SELECT 42"]
    assert subprocess.check_output(psql, text=True).strip() == "42"
    with dbapi.connect(server.dsn) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT 42")
        assert cursor.fetchone() == (42,)


def test_the_dsn_ignores_the_environment_of_libpq(
    server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPORT", "1")
    monkeypatch.setenv("PGHOST", "nowhere")
    monkeypatch.setenv("PGDATABASE", "nothing")
    assert value(server.dsn, "SELECT 1") == 1


def test_a_dsn_for_another_database(server: EmbeddedServer) -> None:
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute('CREATE DATABASE "a b"')
    assert value(server.dsn_for("a b"), "SELECT current_database()") == "a b"


def test_data_is_kept_between_runs(tmp_path: Path) -> None:
    with EmbeddedServer.start(tmp_path) as server:
        assert server.started
        with psycopg.connect(server.dsn) as connection:
            connection.execute("CREATE TABLE t AS SELECT 7 AS x")
    assert not is_running(server)
    with EmbeddedServer.start(tmp_path) as server:
        assert server.started
        assert value(server.dsn, "SELECT x FROM t") == 7


def test_the_last_handle_stops_the_server(tmp_path: Path) -> None:
    first = EmbeddedServer.start(tmp_path)
    second = EmbeddedServer.start(tmp_path)
    other = Another(tmp_path)
    assert (first.started, second.started, other.started) == (True, False, False)
    assert first.dsn == second.dsn == other.dsn
    first.stop()
    first.stop()
    second.stop()
    assert value(other.dsn, "SELECT 1") == 1
    other.stop()
    assert not is_running(first)


def test_a_killed_process_leaves_a_server_to_attach_to(tmp_path: Path) -> None:
    other = Another(tmp_path)
    assert other.started
    other.kill()
    with EmbeddedServer.start(tmp_path) as server:
        assert not server.started
        assert value(server.dsn, "SELECT 1") == 1
    assert not is_running(server)


def test_a_killed_server_recovers(tmp_path: Path) -> None:
    first = EmbeddedServer.start(tmp_path)
    with psycopg.connect(first.dsn) as connection:
        connection.execute("CREATE TABLE t AS SELECT 7 AS x")
    os.kill(postmaster(first), signal.SIGKILL)
    with EmbeddedServer.start(tmp_path) as second:
        assert second.started
        assert value(second.dsn, "SELECT x FROM t") == 7
        first.stop()
        assert value(second.dsn, "SELECT x FROM t") == 7


def test_a_stale_pid_file_is_no_obstacle(tmp_path: Path) -> None:
    with EmbeddedServer.start(tmp_path) as server:
        pid_file = server.data_directory / "postmaster.pid"
        lines = pid_file.read_text().splitlines()
    # As after a reboot: the number belongs to another process, here to ourselves.
    stale = "\n".join([str(os.getpid()), *lines[1:]]) + "\n"
    pid_file.write_text(stale)
    (server.socket_directory / ".s.PGSQL.5432.lock").write_text(stale)
    with EmbeddedServer.start(tmp_path) as server:
        assert server.started


def test_a_start_cut_short_is_done_again(tmp_path: Path) -> None:
    draft = tmp_path / "postgres.new"
    draft.mkdir()
    (draft / "PG_VERSION").write_text("18\n")
    with EmbeddedServer.start(tmp_path) as server:
        assert value(server.dsn, "SELECT 1") == 1
    assert not draft.exists()


@pytest.mark.parametrize(
    "name",
    ["with spaces", 'it\'s, "odd" $HOME `x` %20', "long" * 40, "é" * 60],
    ids=["spaces", "odd", "long", "accents"],
)
def test_any_path_will_do(tmp_path: Path, name: str) -> None:
    with EmbeddedServer.start(tmp_path / name) as server:
        assert server.data_directory.is_relative_to(tmp_path / name)
        assert value(server.dsn, "SELECT 1") == 1
        with dbapi.connect(server.dsn) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT 42")
            assert cursor.fetchone() == (42,)
    with EmbeddedServer.start(tmp_path / name) as again:
        assert again.socket_directory == server.socket_directory
    if again.socket_directory != again.data_directory:
        assert not again.socket_directory.exists()


def test_data_of_another_version_is_refused(tmp_path: Path) -> None:
    with EmbeddedServer.start(tmp_path) as server:
        pass
    (server.data_directory / "PG_VERSION").write_text("16\n")
    with pytest.raises(EmbeddedServerFailed, match="PostgreSQL 16"):
        EmbeddedServer.start(tmp_path)


def test_a_failed_start_tells_why(tmp_path: Path) -> None:
    with EmbeddedServer.start(tmp_path) as server:
        pass
    with (server.data_directory / "postgresql.conf").open("a") as configuration:
        configuration.write("no_such_setting = 1\n")
    begun = time.monotonic()
    with pytest.raises(EmbeddedServerFailed, match="no_such_setting"):
        EmbeddedServer.start(tmp_path)
    assert time.monotonic() - begun < 30
