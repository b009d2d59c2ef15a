"""Random tables, queries, changes and refreshes; PostgreSQL says what is right.

    pytest tests/property --examples 5000               any number of examples
    pytest tests/property --hypothesis-seed=<printed>   the same ones again

A failure prints the example as a program of its own.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, note
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from helpers import assert_exact, assert_types
from pgstream.client import PgStream
from pgstream.database.embedded import EmbeddedServer
from pgstream.errors import NumericRange, UnsupportedExpression
from pgstream.settings import Settings

sys.path.insert(0, str(Path(__file__).parent))
from generate import Scenario, scenario

SETTINGS = Settings(differential_max_change_ratio=0.0, min_schedule_seconds=1)
REFUSALS = (UnsupportedExpression, NumericRange)


@pytest.fixture(scope="module")
def shared(
    server: EmbeddedServer, make_database: Callable[[], str], spark: Any
) -> Iterator[PgStream]:
    """One database for all examples; each example cleans up after itself."""
    with PgStream(server.dsn_for(make_database()), spark, settings=SETTINGS) as ps:
        yield ps


def test_every_refresh_is_exact(shared: PgStream, request: pytest.FixtureRequest) -> None:
    seen: Counter[str] = Counter()

    @hypothesis_settings(
        max_examples=request.config.getoption("--examples"),
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(
        seed=st.integers(0, 2**48),
        tables=st.integers(1, 3),
        rows=st.integers(1, 8),
        streams=st.integers(1, 3),
        rounds=st.integers(1, 2),
    )
    def check(seed: int, tables: int, rows: int, streams: int, rounds: int) -> None:
        example = scenario(seed, tables, rows, streams, rounds)
        note(f"# scenario{(seed, tables, rows, streams, rounds)}\n{example.script()}")
        seen.update(play(shared, example))

    check()
    print(dict(seen))
    assert seen["refused"] <= 0.2 * seen["streams"]


def play(ps: PgStream, example: Scenario) -> Counter[str]:
    """Runs an example; the oracle is asked about all that each refresh has touched."""
    seen: Counter[str] = Counter()
    made: list[str] = []
    try:
        for statement in example.tables:
            ps.execute(statement)
        for stream in example.streams:
            seen["streams"] += 1
            try:
                ps.create_stream_table(stream.name, stream.query)
            except REFUSALS:
                seen["refused"] += 1
                break
            made.append(stream.name)
            assert_exact(ps, stream.name)
            assert_types(ps, stream.name)
        for each in example.rounds:
            for transaction in each.transactions:
                with ps.connection.transaction():
                    for statement in transaction:
                        ps.execute(statement)
            if each.refresh in made:
                result = ps.refresh_stream_table(each.refresh)
                for done in (*result.upstream, result):
                    seen[done.action] += 1
                    seen["actions"] += done.spark_actions
                assert_exact(ps, *(done.name for done in (*result.upstream, result)))
    finally:
        for name in reversed(made):
            ps.drop_stream_table(name)
        ps.execute("DROP TABLE IF EXISTS b1, b2, b3")
    return seen
