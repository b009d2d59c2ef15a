"""The benchmarks measure what they say, on a few rows."""

from __future__ import annotations

import pytest

from pgstream.bench.parallel import measure_parallel
from pgstream.bench.place import room
from pgstream.bench.plans import is_wrong, measure_plans
from pgstream.bench.scenarios import SCENARIOS
from pgstream.bench.tpch.measure_tpch import measure_tpch
from pgstream.bench.tpch.sections import TABLES, queries
from pgstream.bench.wake import measure_wake
from pgstream.bench.writes import STATEMENTS, WAYS, Way, measure_writes
from pgstream.client import PgStream

pytestmark = pytest.mark.usual_way


@pytest.mark.smoke("bench")
def test_plans(ps: PgStream) -> None:
    said: list[str] = []
    with room(ps):
        found = measure_plans(ps, 2000, [1, 40], list(SCENARIOS), 1, said.append, warming=1)
    assert [row for row in found["results"] if is_wrong(row)] == []
    rows = {(row["scenario"], row["changes"]): row for row in found["results"]}
    assert set(rows) == {(name, size) for name in SCENARIOS for size in (1, 40)}
    assert rows["join", 40]["times_join"] == 1
    assert all(row["postgres_ms"] > 0 and row["full_ms"] > 0 for row in rows.values())
    assert found["bare_spark_action_ms"] > 0
    assert len(said) == 1 + len(SCENARIOS) + 1 + 2 * 2
    assert not ps.status()


def test_writes(ps: PgStream) -> None:
    said: list[str] = []
    with room(ps):
        found = measure_writes(ps, 20, [1, 2], 1, said.append)
    assert found["obstacle"] is None
    rows = {
        (row["statement"], row["writers"], Way(row["capture"], row["columns"])): row
        for row in found["results"]
    }
    assert set(rows) == {
        (name, count, way) for name in STATEMENTS for count in (1, 2) for way in WAYS
    }
    assert [row for row in rows.values() if not row["exact"]] == []
    assert {row["ratio"] for row in rows.values() if row["capture"] == "none"} == {1.0}
    assert len(said) == 2 * len(STATEMENTS)
    assert not ps.status()
    assert ps.execute("SELECT count(*) FROM pg_replication_slots") == [(0,)]


def test_wake(ps: PgStream) -> None:
    with room(ps):
        found = measure_wake(ps, 3, 2, 10, print, warm=1)
    assert found["exact"]
    assert [row["median_ms"] > 0 for row in found["results"]] == [True, True]
    assert found["commits_per_second"].keys() == {"24h", "on change"}


def test_parallel(ps: PgStream) -> None:
    with room(ps):
        found = measure_parallel(ps, 3, [1, 2], 1, print)
    assert found["exact"]
    assert [row["at_once"] for row in found["results"]] == [1, 2]
    assert found["results"][0]["times_faster"] == 1


def test_tpch(ps: PgStream, monkeypatch: pytest.MonkeyPatch) -> None:
    """A query that fails has its error in its row, and the others go on."""
    asked = queries() | {"q2": "SELECT no_such_column FROM lineitem"}
    monkeypatch.setattr("pgstream.bench.tpch.measure_tpch.queries", lambda: asked)
    with room(ps):
        found = measure_tpch(ps, 0.01, 0.02, TABLES, ["q1", "q2", "q4", "q6"], 1, print)
    assert [row["query"] for row in found["results"]] == ["q1", "q2", "q4", "q6"]
    assert "no_such_column" in found["results"][1]["error"]
    wanted = {"queries": 4, "exact": 3, "differential": 3, "not_empty": 3, "changed": 3}
    assert found["summary"].items() >= wanted.items()
