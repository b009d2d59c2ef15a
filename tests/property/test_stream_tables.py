"""Random tables, queries, changes and refreshes; PostgreSQL says what is right.

    pytest tests/property --examples 5000               any number of examples
    pytest tests/property --hypothesis-seed=<printed>   the same ones again

Every part of the grammar has an example whose changes go every way that a row can take. A failure
prints the example, cut down, as a program of its own.
"""

from __future__ import annotations

import itertools
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
from play import lively, play

from helpers import open_stream
from ways import EVERY_WAY

SETTINGS = Settings(differential_max_change_ratio=0.0, min_schedule_seconds=1)
THREADS = 2
CUTTING_SECONDS = 90
MOST_REFUSED = 0.05
MOST_ATTEMPTS = 50


class Run:
    """All examples of a test run: what each must have, and what became of them."""

    def __init__(self, seed: str, examples: int, ways: tuple[str, ...]) -> None:
        self.seed, self.ways = seed, ways
        self.turns = enumerate(itertools.islice(itertools.cycle(range(len(PARTS))), examples))
        self.lock = threading.Lock()
        self.seen: Counter[str] = Counter()
        self.failed: list[tuple[int, Scenario, BaseException]] = []

    def next(self) -> tuple[int, int] | None:
        """One more turn and its part; None when there were enough, or an example has failed."""
        with self.lock:
            return None if self.failed else next(self.turns, None)

    def work(self, opened: Callable[[], Any]) -> None:
        """One thread: turn after turn in a database of its own."""
        with opened() as (ps, connection):
            while (found := self.next()) is not None:
                turn, part = found
                for attempt in range(MOST_ATTEMPTS):
                    dice = random.Random(f"{self.seed} {turn} {attempt}")
                    number = dice.randrange(2**40) * len(PARTS) + part
                    if self.shows(PARTS[part], ps, connection, number):
                        break
                else:
                    raise AssertionError(f"no example of {PARTS[part]} is taken and changes")

    def shows(self, part: str, ps: PgStream, connection: Any, number: int) -> bool:
        """Whether the example has played the part, or has failed. One that changes nothing, or is
        refused, shows nothing."""
        example = lively(connection, scenario(number), rounds=len(EVERY_WAY))
        if example is None:
            return False
        try:
            seen = play(ps, example, self.ways_of(number))
        except Exception as error:
            with self.lock:
                self.failed.append((number, example, error))
            return True
        with self.lock:
            self.seen.update(seen)
        return part in seen

    def ways_of(self, number: int) -> tuple[str, ...]:
        """Each example begins with another one."""
        first = number % len(self.ways)
        return self.ways[first:] + self.ways[:first]


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
    ways = EVERY_WAY if option("--way") == "turns" else (option("--way"),)
    examples = option("--examples") or len(PARTS)
    run = Run(option("--hypothesis-seed"), examples, ways)
    with ThreadPoolExecutor(THREADS) as pool:
        for worker in [pool.submit(run.work, opened) for _ in range(THREADS)]:
            worker.result()
    print(dict(run.seen.most_common()))
    for number, example, error in run.failed[:1]:
        taken = run.ways_of(number)
        program = shorten(opened, example, taken, error).script()
        by = ", ".join(taken)
        pytest.fail(f"scenario({number}) gives, by {by}: {error}\n\nCut down:\n{program}")
    assert run.seen["refused"] <= MOST_REFUSED * run.seen["streams"]


def shorten(
    opened: Any, example: Scenario, ways: tuple[str, ...], error: BaseException
) -> Scenario:
    """Each attempt in a database of its own: a failure may leave anything behind."""

    def fails(shorter: Scenario) -> bool:
        with opened() as (ps, connection):
            try:
                lively(connection, shorter, rounds=len(shorter.rounds))
            except Exception:
                return False  # PostgreSQL does not take it
            try:
                play(ps, shorter, ways)
            except Exception as found:
                return kind(found) == kind(error)
            return False

    return cut(example, fails, CUTTING_SECONDS)


def kind(error: BaseException) -> tuple[str, str]:
    """Failures of one kind are taken for the same one."""
    return type(error).__name__, error.code if isinstance(error, PgStreamError) else ""
