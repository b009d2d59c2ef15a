"""The demo's steps, played on a database of the test's own beside a worker."""

from __future__ import annotations

from typing import Any

import pytest

from pgstream.cli.demo_play import Player
from pgstream.cli.demo_steps import STEPS, STREAM_TABLES
from pgstream.client import PgStream
from pgstream.schedule.background import in_background
from pgstream.schedule.worker import Worker

pytestmark = pytest.mark.usual_way


def test_three_layers_keep_themselves_fresh(ps: PgStream) -> None:
    player = Player(as_json=True)
    with in_background(Worker(ps.dsn, ps.sessions, settings=ps.settings)):
        for step in STEPS:
            player.play(ps, step)
        at_once = player.record[-1]["statements"]
    refreshed = _only(at_once, "refreshed")
    assert {row["layer"] for row in refreshed if row["rows_inserted"]} == {
        "department_stats",
        "department_report",
    }
    report = {row["division"]: row["total_headcount"] for row in _only(at_once, "rows")}
    assert report["R&D"] == 5  # Bob has left, Heidi and Ivan have come
    assert [row["result"] for row in player.verify(ps)] == ["exact"] * len(STREAM_TABLES)


def _only(statements: list[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    (found,) = [each[key] for each in statements if key in each]
    return list(found)
