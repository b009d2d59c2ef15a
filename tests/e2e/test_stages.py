"""The stages that explain shows are those that run, and only those of applying write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest

from helpers import create_exact, refresh_exact, script
from pgstream.catalog.records import Action, RefreshResult
from pgstream.client import PgStream
from pgstream.refresh import refresh_table
from pgstream.refresh.stages.stage import Step
from pgstream.refresh.stages.stages_of import Stages
from pgstream.refresh.stages.work import Work

ROOT = Path(__file__).parents[2]
QUERIES = {
    "plain": "SELECT id, x FROM t WHERE x > 2",
    "counts": "SELECT g, count(*) AS n, sum(x) AS total FROM t GROUP BY g",
    "extremes": "SELECT g, max(x) AS most FROM t GROUP BY g HAVING count(*) > 0",
    "floats": "SELECT g, sum(f) AS total FROM t GROUP BY g",
    "first rows": "SELECT id, x FROM t ORDER BY x DESC, id LIMIT 3",
    "first groups": "SELECT g, max(x) AS most FROM t GROUP BY g ORDER BY 2 DESC, 1 LIMIT 2",
    "recursion": "WITH RECURSIVE r(id, g) AS (SELECT id, g FROM t WHERE g = 1"
    " UNION SELECT t.id, t.g FROM r JOIN t ON t.g = r.id) SELECT count(*) AS n FROM r",
    "upstream": "SELECT g, n FROM counts WHERE n > 1",
}
CHANGES = (
    "INSERT INTO t VALUES (20, 1, 30, 0.5), (21, NULL, NULL, NULL)",
    "DELETE FROM t WHERE x >= 8",  # extremes, and more of the first rows than are stored
    "UPDATE t SET g = g + 1, f = f + 0.25 WHERE id < 5",
    "DELETE FROM t WHERE g = 2",
    "INSERT INTO t VALUES (40, 2, 9, 1)",
)
# Of this backend; PostgreSQL may still count what an earlier transaction of it wrote.
WRITTEN = """
SELECT schemaname, relname, n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_xact_user_tables
WHERE schemaname NOT LIKE 'pg_temp%' ORDER BY 1, 2
"""


@pytest.fixture
def stream(ps: PgStream) -> PgStream:
    script(
        ps,
        "CREATE TABLE t (id int PRIMARY KEY, g int, x int, f float8)",
        "INSERT INTO t SELECT i, i % 3, i, i / 4.0 FROM generate_series(1, 10) i",
    )
    for name, query in QUERIES.items():
        create_exact(ps, name_of(name), query)
    return ps


def name_of(kind: str) -> str:
    return kind.replace(" ", "_")


def explained(ps: PgStream, name: str, title: str) -> list[str]:
    """As the SQL face shows them, which is what the Python face shows."""
    rows = dict(ps.execute("SELECT property, value FROM pgstream.explain_st(%s)", (name,)))
    assert rows[title] == dict(ps.explain(name))[title]
    return [line.split("  ")[0] for line in rows[title].splitlines()]


def are_in_order(ran: tuple[str, ...], listed: list[str]) -> bool:
    rest = iter(listed)
    return all(name in rest for name in ran)


@contextmanager
def nothing_written_before_applying() -> Iterator[None]:
    ran: list[object] = []
    original = refresh_table.run_stages

    def looks(stages: Stages, step: Step, work: Work) -> Work:
        ran.append(step)
        if step is Step.APPLY:
            return original(stages, step, work)
        connection = work.tools.connections.apply
        before = connection.execute(WRITTEN).fetchall()
        after = original(stages, step, work)
        assert connection.execute(WRITTEN).fetchall() == before
        return after

    with patch.object(refresh_table, "run_stages", looks):
        yield
    assert ran, "no stage ran"


def refreshed(ps: PgStream, name: str, full: bool = False) -> RefreshResult:
    with nothing_written_before_applying():
        return refresh_exact(ps, name, full=full)


def test_the_reference_shows_what_explain_shows(ps: PgStream) -> None:
    ps.execute("CREATE TABLE t (g int, x int)")
    ps.create_stream_table("st", "SELECT g, max(x) AS most FROM t GROUP BY g", initialize=False)
    shown = dict(ps.explain("st"))["Differential Stages"]
    assert shown in (ROOT / "docs/reference/api.md").read_text(encoding="utf-8")


@pytest.mark.usual_way
def test_what_is_explained_is_what_runs(stream: PgStream) -> None:
    ran: dict[str, set[str]] = {name: set() for name in QUERIES}
    for change in CHANGES:
        stream.execute(change)
        for kind in QUERIES:
            result = refreshed(stream, name_of(kind))
            listed = explained(stream, name_of(kind), "Differential Stages")
            assert are_in_order(result.stages, listed), (result.stages, listed)
            ran[kind].update(result.stages)
    for kind in QUERIES:
        assert ran[kind] == set(explained(stream, name_of(kind), "Differential Stages")), kind
        result = refreshed(stream, name_of(kind), full=True)
        listed = explained(stream, name_of(kind), "Full Stages")
        assert are_in_order(result.stages, listed)
        # Of a full refresh only what is pending is a change.
        assert set(listed) - set(result.stages) <= {"read changes"}


def test_changes_that_cancel_out_end_after_reading(stream: PgStream) -> None:
    stream.execute("INSERT INTO t VALUES (90, 1, 9, 1); DELETE FROM t WHERE id = 90")
    for kind in ("plain", "extremes", "first rows", "recursion"):
        result = refreshed(stream, name_of(kind))
        assert result.action is Action.NO_DATA
        assert "apply delta" not in result.stages
        assert result.stages[0] == "read changes"
