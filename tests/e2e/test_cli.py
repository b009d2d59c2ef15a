"""The command line in processes of its own, as a user has it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict

from helpers import SHORT_LIVED
from pgstream.client import PgStream
from pgstream.database.connection import connect_as_user as connect
from pgstream.database.embedded import EmbeddedServer

ORDERS = """
CREATE TABLE orders (id int PRIMARY KEY, region text, amount int);
INSERT INTO orders SELECT i, 'r' || i % 3, i FROM generate_series(1, 100) i
"""
TOTALS = "SELECT region, sum(amount) AS total FROM orders GROUP BY region"


class Commands:
    """`pgstream …` on one database."""

    def __init__(self, dsn: str) -> None:
        self.environment = {
            **SHORT_LIVED,
            "PGSTREAM_DSN": dsn,
            "PGSTREAM_DIFFERENTIAL_MAX_CHANGE_RATIO": "0",
        }

    def run(
        self, *arguments: str, given: str | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from pgstream.cli import main; main()", *arguments]
        return subprocess.run(
            command,
            env={**self.environment, **environment},
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )

    def json(self, *arguments: str, code: int = 0, given: str | None = None, **more: str) -> Any:
        done = self.run(*arguments, "--json", given=given, **more)
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def cli(database: str) -> Commands:
    return Commands(database)


@pytest.fixture
def bare(server: EmbeddedServer) -> Iterator[str]:
    """A database without pgstream."""
    with connect(server.dsn) as admin:
        admin.execute("CREATE DATABASE bare TEMPLATE template0")
        yield server.dsn_for("bare")
        admin.execute("DROP DATABASE bare WITH (FORCE)")


def test_from_create_to_drop(ps: PgStream, cli: Commands, tmp_path: Path) -> None:
    ps.execute(ORDERS)
    # One small path row: the first thing a new Spark does is to read in slices and to stage.
    created = cli.json("create", "totals", TOTALS, PGSTREAM_SMALL_PATH_ROWS="1")
    assert created["created"] == "public.totals"
    assert [layer["action"] for layer in created["layers"]] == ["FULL"]

    file = tmp_path / "big.sql"
    file.write_text("SELECT region, total FROM totals WHERE total > 1\n")
    cli.json("create", "big", "--file", str(file), "--schedule", "5m", "--no-initialize")
    listed = [
        {
            "name": "public.big",
            "mode": "DIFFERENTIAL",
            "schedule": "5m",
            "status": "ACTIVE",
            "filled": False,
        },
        {
            "name": "public.totals",
            "mode": "DIFFERENTIAL",
            "schedule": "1m",
            "status": "ACTIVE",
            "filled": True,
        },
    ]
    assert cli.json("list") == listed

    ps.execute("UPDATE orders SET amount = 1000 WHERE id = 1")
    done = cli.json("refresh", "big")
    assert [(layer["name"], layer["action"]) for layer in done["layers"]] == [
        ("public.totals", "DIFFERENTIAL"),
        ("public.big", "FULL"),
    ]
    assert [row["result"] for row in cli.json("verify", "--all")] == ["exact", "exact"]
    assert cli.json("history", "big", "--limit", "1")[0]["action"] == "NO_DATA"
    assert cli.json("explain", "totals")[0]["property"] == "Operator Tree"
    assert {row["name"] for row in cli.json("status")} == {"public.big", "public.totals"}
    assert cli.json("alter", "big", "--status", "suspended")["status"] == "SUSPENDED"
    assert cli.json("drop", "totals", code=1)["error"]["code"] == "PGS-0309"
    assert cli.json("drop", "big") == {"dropped": "public.big"}


def test_without_json_it_prints_tables(ps: PgStream, cli: Commands) -> None:
    ps.execute(ORDERS)
    assert "no stream tables" in cli.run("list").stdout
    ps.create_stream_table("totals", TOTALS, "1h")
    for command in (
        ("list",),
        ("status",),
        ("history", "totals"),
        ("explain", "totals"),
        ("refresh", "totals"),
        ("verify", "totals"),
    ):
        done = cli.run(*command)
        assert (done.returncode, done.stderr) == (0, ""), command
        assert "totals" in done.stdout or "Operator Tree" in done.stdout or "FULL" in done.stdout


def test_a_query_from_stdin_and_its_error_with_its_place(ps: PgStream, cli: Commands) -> None:
    ps.execute(ORDERS)
    cli.json("create", "t", "-", "--no-initialize", given=TOTALS)
    query = "SELECT region\nFROM nowhere"
    error = cli.json("create", "u", "-", code=1, given=query)["error"]
    assert (error["code"], error["line"], error["column"]) == ("PGS-0205", 2, 6)
    done = cli.run("create", "u", query)
    assert done.returncode == 1
    assert done.stderr.startswith("error [PGS-0205]: ")
    assert "Traceback" not in done.stderr


def test_verify_ends_with_1_if_a_table_differs(ps: PgStream, cli: Commands) -> None:
    ps.execute(ORDERS)
    ps.create_stream_table("totals", TOTALS, "1h")
    ps.execute(
        "SET pg_stream.applying = 'on'; DELETE FROM totals WHERE region = 'r0';"
        "RESET pg_stream.applying"
    )
    (row,) = cli.json("verify", "totals", code=1)
    assert row == {"name": "public.totals", "result": "DIFFERS", "missing": 1, "extra": 0}


@pytest.mark.smoke("cli")
def test_serve_once_builds_what_is_new_and_ends(ps: PgStream, cli: Commands) -> None:
    ps.execute(ORDERS)
    ps.execute("SELECT pgstream.create_stream_table('totals', %s, '1h')", (TOTALS,))
    done = cli.run("serve", "--once", "--json")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    events = [json.loads(line) for line in done.stderr.splitlines()]
    assert [event["event"] for event in events] == ["hello", "refresh", "stopped"]
    assert events[1]["name"] == "public.totals"


def test_serve_once_ends_with_1_if_a_refresh_fails(ps: PgStream, cli: Commands) -> None:
    ps.execute("CREATE TABLE t (a int)")
    refused = "SELECT sum(a) OVER (ORDER BY a ROWS (SELECT 1) PRECEDING) AS s FROM t"
    ps.execute("SELECT pgstream.create_stream_table('r', %s)", (refused,))
    done = cli.run("serve", "--once")
    assert done.returncode == 1
    assert "public.r FAILED [PGS-02" in done.stderr
    for command in ("list", "status"):
        assert "public.r was never populated: A frame whose offset" in cli.run(command).stdout


def test_init_and_uninstall(bare: str) -> None:
    cli = Commands(bare)
    assert cli.json("list", code=1)["error"]["code"] == "PGS-0103"
    first = cli.json("init")
    assert first["ran"][0] == "three_schemas"
    assert cli.json("init")["ran"] == []
    assert "nothing to do" in cli.run("init").stdout
    with connect(bare) as connection:
        connection.execute(ORDERS)
        connection.execute("SELECT pgstream.create_stream_table('totals', %s)", (TOTALS,))
    assert cli.json("init", "--uninstall") == {"removed": True, "stream_tables": ["public.totals"]}
    assert cli.json("init", "--uninstall") == {"removed": False, "stream_tables": []}
    with connect(bare) as connection:
        assert connection.execute("SELECT count(*) FROM orders").fetchone() == (100,)
        assert connection.execute("SELECT to_regclass('totals')").fetchone() == (None,)


def test_an_embedded_server_in_place_of_an_address(server: EmbeddedServer, cli: Commands) -> None:
    place = server.data_directory.parent
    assert cli.json("list", "--embedded", str(place), PGSTREAM_DSN="") == []


def test_a_wrong_address(cli: Commands, database: str) -> None:
    host = conninfo_to_dict(database)["host"]
    done = cli.json("list", "--dsn", f"host={host} user=postgres dbname=nowhere", code=1)
    assert done["error"]["code"] == "PGS-0102"
    assert "nowhere" in done["error"]["detail"]
