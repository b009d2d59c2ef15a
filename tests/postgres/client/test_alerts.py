"""ps.alerts() and pgstream watch."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from pgstream.client import connect

OWNER = "pgs_test_owner"


@pytest.fixture
def suspended(owner):
    owner.execute("CREATE TABLE t (id int PRIMARY KEY)")
    owner.execute("SELECT pgstream.create_stream_table('st', 'SELECT id FROM t')")
    owner.execute("SELECT pgstream.alter_stream_table('st', status => 'SUSPENDED')")
    return owner


def test_alerts_are_heard_from_the_call_on(database, suspended):
    with connect(database.dsn_as(OWNER)) as stream:
        alerts = stream.alerts(timeout=10)
        suspended.execute("SELECT pgstream.alter_stream_table('st', status => 'ACTIVE')")
        assert next(alerts) == {"event": "resumed", "stream_table": "public.st"}
        assert list(stream.alerts(timeout=0)) == []


def test_watch_prints_until_ctrl_c(database, suspended):
    main = "from pgstream.cli import main; main()"
    command = [sys.executable, "-c", main, "watch", "--dsn", database.dsn_as(OWNER)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with (
        subprocess.Popen([*command, "--json"], **pipes) as documents,
        subprocess.Popen(command, env={**os.environ, "PYTHONUNBUFFERED": "1"}, **pipes) as lines,
    ):
        try:
            assert "listening" in lines.stderr.readline()
            _wait_for_listeners(suspended, 2)
            suspended.execute("SELECT pgstream.alter_stream_table('st', status => 'ACTIVE')")
            wanted = {"event": "resumed", "stream_table": "public.st"}
            assert json.loads(documents.stdout.readline()) == wanted
            assert lines.stdout.readline().split()[1:] == ["resumed", "public.st"]
            for process in (documents, lines):
                process.send_signal(signal.SIGINT)
                assert process.wait(timeout=30) == 0
        finally:
            documents.kill()
            lines.kill()


def _wait_for_listeners(connection, wanted: int) -> None:
    query = (
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pgstream watch'"
        " AND datname = current_database() AND query LIKE 'LISTEN%' AND state = 'idle'"
    )
    for _ in range(600):
        if connection.execute(query).fetchone() == (wanted,):
            return
        connection.execute("SELECT pg_sleep(0.05)")
    pytest.fail("nobody listens")
