"""The ways of a row, in turns: every refresh of a test takes the next one.

    values   written into the statement, as few rows are
    arrow    through the driver as Arrow
    one      one relation in slices by the executors, the others as Arrow
    slices   every relation in slices

The executors' ways cost several times as much as the others, so they have fewer turns.
`--way NAME` sends all rows one way. A test that asserts what a refresh costs is marked
`usual_way`: its rows go as a user's do.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

from pgstream.client import PgStream
from pgstream.engine.ways import Ways


@dataclass(frozen=True)
class Way(Ways):
    """`spared` relations come before the one that is sliced: it is not always the first."""

    name: str = "values"
    spared: int = 0
    asked: Any = field(default_factory=itertools.count, compare=False)

    def through_driver(self, rows: int) -> bool:
        if self.name == "one" and next(self.asked) == self.spared:
            return False
        return self.name != "slices" and super().through_driver(rows)

    def in_statement(self, rows: Any) -> bool:
        return self.name == "values" and super().in_statement(rows)


PASSED = (("values", 0), ("arrow", 0)) * 5
TURNS = (*PASSED, ("one", 0), *PASSED, ("one", 1))
EACH = ("values", "arrow", "one", "values", "arrow", "values", "arrow")
NAMES = ("turns", "values", "arrow", "one", "slices")


def send(ps: PgStream, name: str, first: int = 0) -> None:
    """From now on the rows go this way; in turns, they begin with the `first`."""
    alone = [turn for turn in TURNS if turn[0] == name] or [(name, 0)]
    taken = TURNS if name == "turns" else alone
    numbers = itertools.count(first)

    def way(most_rows: int) -> Ways:
        """One refresh."""
        return Way(most_rows, *taken[next(numbers) % len(taken)])

    ps.refresher.ways = way
