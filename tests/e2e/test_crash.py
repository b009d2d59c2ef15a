"""kill -9 at each of the seven steps: the next refresh is exact, and nothing is applied twice."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from helpers import (
    SHORT_LIVED,
    assert_exact,
    assert_hidden_exact,
    create_exact,
    refresh_exact,
    rows,
    script,
)
from pgstream.catalog.records import Action
from pgstream.client import PgStream
from pgstream.refresh.crash import STEPS

WORKER = """
import sys, pgstream
from pgstream.settings import Settings
settings = Settings(differential_max_change_ratio=0.0, spark_master="local[1]",
                    small_path_rows=int(sys.argv[2]))
pgstream.connect(sys.argv[1], settings=settings).refresh_stream_table("top")
"""


@pytest.fixture
def graph(ps: PgStream) -> PgStream:
    script(
        ps,
        "CREATE TABLE t (id int PRIMARY KEY, g int, x int)",
        "INSERT INTO t SELECT i, i % 5, i FROM generate_series(1, 50) i",
    )
    create_exact(ps, "low", "SELECT g, sum(x) AS total, count(*) AS n FROM t GROUP BY g")
    create_exact(
        ps,
        "top",
        "SELECT l.total, t.id, (SELECT max(u.x) FROM t u WHERE u.g = t.g) AS most"
        " FROM low l JOIN t ON t.g = l.g",
    )
    script(
        ps,
        "UPDATE t SET x = x + 1 WHERE g = 1",
        "UPDATE t SET g = 7 WHERE id < 4",
        "DELETE FROM t WHERE g = 2",
        "INSERT INTO t VALUES (100, 3, 3), (101, NULL, 1)",
    )
    return ps


def crash(ps: PgStream, step: str, small_path_rows: int = 50_000) -> None:
    """A worker of its own that kills itself at the step."""
    ended = subprocess.run(
        [sys.executable, "-c", WORKER, ps.dsn, str(small_path_rows)],
        env={**SHORT_LIVED, "PGSTREAM_CRASH_AT": step},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr


def assert_interrupted(ps: PgStream) -> None:
    """The attempt is in the history as FAILED, once for each table; the next one COMPLETED."""
    for name in ("low", "top"):
        newest, interrupted = ps.history(name, 2)
        assert (newest["status"], newest["action"]) == ("COMPLETED", "DIFFERENTIAL")
        assert interrupted["status"] == "FAILED"
        assert "worker ended" in interrupted["error_message"]


def assert_clean(ps: PgStream) -> None:
    assert (
        ps.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'pgstream_state'::regnamespace"
            " AND relname LIKE 'staging%'"
        )
        == []
    )
    assert ps.execute("SELECT FROM pgstream.pgs_refresh_history WHERE status = 'RUNNING'") == []


def go_on(ps: PgStream) -> None:
    """Life after the crash: further changes are exact too."""
    script(ps, "UPDATE t SET x = x * 2", "DELETE FROM t WHERE id = 100")
    refresh_exact(ps, "top", "low")
    assert_hidden_exact(ps, "top")
    assert refresh_exact(ps, "top").action is Action.NO_DATA


def test_the_steps_are_seven() -> None:
    assert STEPS == ("lock", "snapshot", "changes", "decide", "compute", "apply", "clean")


@pytest.mark.parametrize("step", [step for step in STEPS if step != "clean"])
def test_before_the_commit(graph: PgStream, step: str) -> None:
    before = rows(graph, "top"), rows(graph, "low")
    crash(graph, step)
    assert (rows(graph, "top"), rows(graph, "low")) == before
    result = refresh_exact(graph, "top", "low")
    assert result.action is Action.DIFFERENTIAL
    assert_interrupted(graph)
    assert_clean(graph)
    go_on(graph)


def test_after_the_commit(graph: PgStream) -> None:
    crash(graph, "clean")
    assert_exact(graph, "top", "low")
    assert refresh_exact(graph, "top", "low").action is Action.NO_DATA
    for name in ("low", "top"):
        again, done = graph.history(name, 2)
        assert (again["status"], again["action"]) == ("COMPLETED", "NO_DATA")
        assert (done["status"], done["action"]) == ("COMPLETED", "DIFFERENTIAL")
    assert_clean(graph)
    go_on(graph)


def test_staging_tables_of_a_dead_worker_are_dropped(graph: PgStream) -> None:
    """On the large path the executors have staged their rows when the worker dies."""
    crash(graph, "compute", small_path_rows=1)
    refresh_exact(graph, "top", "low")
    assert_interrupted(graph)
    assert_clean(graph)
    go_on(graph)


def test_twice_in_a_row(graph: PgStream) -> None:
    crash(graph, "lock")
    graph.execute("INSERT INTO t VALUES (200, 4, 4)")
    crash(graph, "decide")
    refresh_exact(graph, "top", "low")
    assert [row["status"] for row in graph.history("top", 3)] == ["COMPLETED", "FAILED", "FAILED"]
    assert_clean(graph)
