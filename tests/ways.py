"""The ways of a row, in turns: every refresh of a test takes the next one.

    values   written into the statement, as few rows are
    arrow    through the driver as Arrow

The executors' ways cost several times as much, so they have no turn here unless asked for. The
property test sends changes every way with every part of its grammar.

    one      one relation in slices by the executors, the others as Arrow
    slices   every relation in slices
    kept     every relation in slices, and the executors keep the keys that they find

`--way NAME` sends all rows one way. A test that asserts what a refresh costs is marked
`usual_way`: its rows go as a user's do.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

from pgstream.client import PgStream
from pgstream.engine.ways import Ways

WAYS = {
    "values": ("values",),
    "arrow": ("arrow",),
    "one": ("first", "second"),
    "slices": ("slices",),
    "kept": ("kept",),
    "turns": ("values", "arrow"),
}
EVERY_WAY = ("values", "arrow", "slices")


@dataclass
class Way(Ways):
    name: str = "values"
    asked: Any = field(default_factory=itertools.count, compare=False)

    def through_driver(self, rows: int, width: int) -> bool:
        if self.name in ("first", "second"):  # of the relations that a refresh reads
            is_sliced = next(self.asked) == ("first", "second").index(self.name)
        else:
            is_sliced = self.name in ("slices", "kept")
        return not is_sliced and super().through_driver(rows, width)

    @property
    def most_keys(self) -> int:
        return 0 if self.name == "kept" else super().most_keys

    def in_statement(self, rows: Any) -> bool:
        return self.name == "values" and super().in_statement(rows)


def send(ps: PgStream, name: str, first: int = 0) -> None:
    """From now on the rows go this way; in turns, they begin with the `first`."""
    numbers = itertools.count(first)

    def way(most_rows: int, most_bytes: int) -> Ways:
        """One refresh."""
        taken = WAYS[name]
        return Way(most_rows, most_bytes, name=taken[next(numbers) % len(taken)])

    ps.refresher.ways = way
