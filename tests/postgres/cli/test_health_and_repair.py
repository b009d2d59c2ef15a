"""The commands for operators, on a database without a worker."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from pgstream.cli.app import app

OWNER = "pgs_test_owner"


@pytest.fixture
def run(database):
    def run(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, [*arguments, "--dsn", database.dsn_as(OWNER)])
        return done.exit_code, done.stdout

    return run


def test_health_tells_by_its_exit_code(run, owner):
    assert run("health") == (0, "All is well.\n")
    owner.execute("CREATE TABLE t (id int PRIMARY KEY)")
    owner.execute("SELECT pgstream.create_stream_table('st', 'SELECT id FROM t')")
    code, text = run("health", "--json")
    assert (code, [found["check"] for found in json.loads(text)]) == (1, ["workers"])
    owner.execute("DROP TABLE t")
    code, text = run("health", "--json")
    assert (code, json.loads(text)[0]["severity"]) == (2, "error")
    assert "public.st" in run("health")[1]


def test_health_of_a_database_that_cannot_be_asked():
    done = CliRunner().invoke(app, ["health", "--json", "--dsn", "host=/nowhere dbname=x"])
    assert done.exit_code == 2
    assert json.loads(done.stdout)["error"]["code"] == "PGS-0102"


def test_repair_mends_what_another_server_left(run, owner):
    owner.execute("CREATE TABLE t (id int PRIMARY KEY)")
    owner.execute("SELECT pgstream.create_stream_table('st', 'SELECT id FROM t')")
    assert run("repair") == (0, "All is whole.\n")
    owner.execute("UPDATE pgstream.pgs_server SET system_identifier = 1")
    code, text = run("status", "--json")
    assert (code, json.loads(text)["error"]["code"]) == (1, "PGS-0108")
    code, text = run("repair", "--json")
    fault = {"name": "public.st", "fault": "the server is another one", "error": None}
    assert (code, json.loads(text)) == (0, [fault])
    assert run("status", "--json")[0] == 0


def test_repair_that_fails_says_so(run, owner):
    owner.execute("CREATE TABLE t (id int PRIMARY KEY)")
    owner.execute("SELECT pgstream.create_stream_table('st', 'SELECT id FROM t')")
    owner.execute("DROP TABLE t")
    code, text = run("repair", "--json")
    assert code == 1
    assert json.loads(text)[0]["error"] == 'relation "public.t" does not exist'
