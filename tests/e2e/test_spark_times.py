"""What a refresh says of the time that Spark took, and what it writes down of it."""

from __future__ import annotations

import pytest

from helpers import create_exact, refresh_exact, script
from pgstream.catalog.records import Action
from pgstream.client import PgStream
from ways import send

PARTS = ("analysis_ms", "planning_ms", "running_ms")


@pytest.fixture
def orders(ps: PgStream) -> PgStream:
    script(
        ps,
        "CREATE TABLE orders (id int PRIMARY KEY, region text, amount int)",
        "INSERT INTO orders SELECT i, 'r' || i % 5, i FROM generate_series(1, 100) i",
    )
    create_exact(ps, "st", "SELECT region, sum(amount) AS total FROM orders GROUP BY region")
    return ps


def test_each_part_is_told_and_recorded(orders: PgStream) -> None:
    orders.execute("UPDATE orders SET amount = 0 WHERE id = 7")
    result = refresh_exact(orders, "st")
    assert result.spark_actions == 1
    (recorded,) = orders.history("st", 1)
    for part in PARTS:
        assert recorded[part] == getattr(result, part) > 0
    assert sum(recorded[part] for part in PARTS) < recorded["compute_ms"]


def test_without_an_action_there_is_none(orders: PgStream) -> None:
    result = refresh_exact(orders, "st")
    assert result.action is Action.NO_DATA
    (recorded,) = orders.history("st", 1)
    assert [recorded[part] for part in PARTS] == [0.0, 0.0, 0.0]


def test_what_executors_write_is_planned_as_it_runs(orders: PgStream) -> None:
    send(orders, "slices")
    result = refresh_exact(orders, "st", full=True)
    assert result.spark_actions > 0
    assert result.analysis_ms > 0
    assert result.running_ms > 0
