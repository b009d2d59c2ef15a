"""Random tables, queries, changes and refreshes; PostgreSQL says what is right.

    pytest tests/property --examples 5000               any number of examples
    pytest tests/property --hypothesis-seed=<printed>   the same ones again

A failure prints the example, cut down, as a program of its own.
"""

from __future__ import annotations

import random
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pgstream.client import PgStream
from pgstream.database.connection import connect_as_user as connect
from pgstream.database.embedded import EmbeddedServer
from pgstream.engine.spark.session import Sessions
from pgstream.errors import PgStreamError
from pgstream.settings import Settings

sys.path.insert(0, str(Path(__file__).parent))
from cut import cut
from generator.scenario import PARTS, Scenario, scenario
from play import is_lively, play

from helpers import open_stream
from ways import WAYS

SETTINGS = Settings(differential_max_change_ratio=0.0, min_schedule_seconds=1)
THREADS = 2
CUTTING_SECONDS = 90
MOST_REFUSED = 0.05


class Run:
    """All examples of a test run: their numbers, and what became of them."""

    def __init__(self, seed: str, examples: int, ways: tuple[str, ...]) -> None:
        self.numbers = random.Random(seed)
        self.ways = ways
        self.turn = 0
        self.left = examples
        self.lock = threading.Lock()
        self.seen: Counter[str] = Counter()
        self.by_way: Counter[tuple[str, str]] = Counter()
        self.failed: list[tuple[int, str, BaseException]] = []

    def next(self) -> tuple[int, str] | None:
        """The number of one more example, and the way of its rows; None when there are enough, or
        one has failed."""
        with self.lock:
            if self.left == 0 or self.failed:
                return None
            self.turn += 1  # every part has its turn, by every way
            number = self.numbers.randrange(2**40) * len(PARTS) + self.turn % len(PARTS)
            return number, self.ways[self.turn // len(PARTS) % len(self.ways)]

    def passed(self, way: str, seen: Counter[str]) -> None:
        with self.lock:
            self.left = max(self.left - 1, 0)
            self.seen.update(seen)
            self.by_way.update((part, way) for part in PARTS if part in seen)

    def work(self, opened: Callable[[], Any]) -> None:
        """One thread: example after example in a database of its own."""
        with opened() as (ps, connection):
            while (turn := self.next()) is not None:
                number, way = turn
                example = scenario(number)
                if not is_lively(connection, example):
                    continue
                try:
                    seen = play(ps, example, way)
                except Exception as error:
                    with self.lock:
                        self.failed.append((number, way, error))
                else:
                    self.passed(way, seen)


@pytest.fixture
def opened(server: EmbeddedServer, make_database: Callable[[], str], sessions: Sessions) -> Any:
    """A new database with pgstream, and a plain connection to it."""

    @contextmanager
    def make() -> Iterator[tuple[PgStream, Any]]:
        dsn = server.dsn_for(make_database())
        with open_stream(dsn, sessions, SETTINGS) as ps, connect(dsn) as connection:
            yield ps, connection

    return make


def test_every_refresh_is_exact(opened: Any, request: pytest.FixtureRequest) -> None:
    option = request.config.getoption
    ways = WAYS["turns"] if option("--way") == "turns" else (option("--way"),)
    run = Run(option("--hypothesis-seed"), option("--examples"), ways)
    with ThreadPoolExecutor(THREADS) as pool:
        for worker in [pool.submit(run.work, opened) for _ in range(THREADS)]:
            worker.result()
    print(dict(run.seen.most_common()))
    for number, way, error in run.failed[:1]:
        shortest = shorten(opened, scenario(number), way, error)
        program = shortest.script()
        pytest.fail(f"scenario({number}) gives, {way}: {error}\n\nCut down:\n{program}")
    assert run.seen["refused"] <= MOST_REFUSED * run.seen["streams"]
    if option("--examples") >= 5 * len(PARTS):
        assert [(p, way) for p in PARTS for way in ways if not run.by_way[p, way]] == []


def shorten(opened: Any, example: Scenario, way: str, error: BaseException) -> Scenario:
    """Each attempt in a database of its own: a failure may leave anything behind."""

    def fails(shorter: Scenario) -> bool:
        with opened() as (ps, connection):
            try:
                is_lively(connection, shorter)
            except Exception:
                return False  # PostgreSQL does not take it
            try:
                play(ps, shorter, way)
            except Exception as found:
                return kind(found) == kind(error)
            return False

    return cut(example, fails, CUTTING_SECONDS)


def kind(error: BaseException) -> tuple[str, str]:
    """Failures of one kind are taken for the same one."""
    return type(error).__name__, error.code if isinstance(error, PgStreamError) else ""
