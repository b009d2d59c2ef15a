"""The 22 queries of TPC-H at scale factor 0.01: created, changed in every table, exact."""

from __future__ import annotations

import math
from pathlib import Path

import psycopg
import pytest

from helpers import assert_exact
from pgstream.bench.tpch.load import load
from pgstream.bench.tpch.sections import queries
from pgstream.catalog.records import Action
from pgstream.client import PgStream

HERE = Path(__file__).parent
SCALE = 0.01


@pytest.fixture
def warehouse(ps: PgStream) -> PgStream:
    load(ps, SCALE)
    return ps


FEW = """
UPDATE orders SET o_totalprice = o_totalprice + 1, o_orderdate = o_orderdate + 1
WHERE o_orderkey IN (SELECT o_orderkey FROM orders ORDER BY o_orderkey LIMIT 10 OFFSET 500);
UPDATE lineitem SET l_quantity = l_quantity + 1, l_receiptdate = l_receiptdate + 1
WHERE l_orderkey IN (SELECT o_orderkey FROM orders ORDER BY o_orderkey LIMIT 3 OFFSET 700);
"""
MOST_READ = 1000
"""For so few changes, whatever the size of the tables: lineitem has 60,000 rows, and each of its
parts 30, at every scale factor."""


@pytest.mark.usual_way
def test_every_query_is_exact_and_cheap(warehouse: PgStream) -> None:
    """After changes in every table, then after a few. What fails is collected, so that the message
    names every query."""
    failures = []

    def attempt(name: str, query: str | None = None, most: float = math.inf) -> bool:
        try:
            if query is not None:
                warehouse.create_stream_table(name, query)
            else:
                result = warehouse.refresh_stream_table(name)
                assert result.action in (Action.DIFFERENTIAL, Action.NO_DATA), result.reason
                assert result.rows_read <= most, f"{result.rows_read} rows are read"
            assert_exact(warehouse, name)
        except Exception as error:
            failures.append(f"{name}: {type(error).__name__}: {error}")
            return False
        return True

    made = [name for name, query in queries().items() if attempt(name, query)]
    for change, most in (((HERE / "changes.sql").read_text(), math.inf), (FEW, MOST_READ)):
        with psycopg.connect(warehouse.dsn) as connection:
            connection.execute(change.encode())
        made = [name for name in made if attempt(name, most=most)]
    assert not failures, "\n" + "\n".join(failures)
