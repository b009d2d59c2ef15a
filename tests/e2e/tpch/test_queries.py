"""The 22 queries of TPC-H at scale factor 0.01: created, changed in every table, exact."""

from __future__ import annotations

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


@pytest.mark.usual_way
def test_every_query_is_exact_after_changes_in_every_table(warehouse: PgStream) -> None:
    """What fails is collected, so that the message names every query."""
    failures = []
    made = []

    def attempt(name: str, query: str | None) -> bool:
        try:
            if query is not None:
                warehouse.create_stream_table(name, query)
            else:
                result = warehouse.refresh_stream_table(name)
                assert result.action in (Action.DIFFERENTIAL, Action.NO_DATA), result.reason
            assert_exact(warehouse, name)
        except Exception as error:
            failures.append(f"{name}: {type(error).__name__}: {error}")
            return False
        return True

    made = [name for name, query in queries().items() if attempt(name, query)]
    with psycopg.connect(warehouse.dsn) as connection:
        connection.execute((HERE / "changes.sql").read_bytes())
    for name in made:
        attempt(name, None)
    assert not failures, "\n" + "\n".join(failures)
    assert len(made) == 22
