"""Ranges: the values of some columns of a change, each with the range that a threshold moved over.

    x > t: where t moves from s to t, only rows with x between s and t can pass or fail anew

The last of the columns that are restricted is x. A threshold that came or went has no other end:
its range is open. More rows than those of the range do no harm. So where a range goes no further
down, the keys alone do.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgstream.algebra.operators.node import Expects, Keys, Node, names_at

SHARE_OF_A_RANGE = 0.01
"""Thresholds are expected to move little."""


@dataclass(frozen=True, eq=False)
class Ranges(Keys):
    bound: int = 0
    """The column of the change that has the threshold."""

    def describe(self) -> str:
        keys = names_at(self.indexes, self.input.columns)
        bound = self.input.columns[self.bound].name
        return f"Ranges of {bound}" + (f" by {keys}" if keys else "")

    @property
    def read(self) -> tuple[int, ...]:
        return (*self.indexes, self.bound)

    def pick(self, positions: tuple[int, ...]) -> Keys:
        last = len(self.indexes)
        equal = tuple(self.indexes[p] for p in positions if p < last)
        if last not in positions:
            return Keys(self.input, equal, self.nulls)
        return Ranges(self.input, equal, self.nulls, self.bound)

    @property
    def equalities(self) -> Keys | None:
        return Keys(self.input, self.indexes, self.nulls) if self.indexes else None

    def expected_share(self, of: Node, indexes: tuple[int, ...], expect: Expects) -> float:
        return super().expected_share(of, indexes[:-1], expect) * SHARE_OF_A_RANGE

    def in_words(self, names: list[str]) -> str:
        *keys, column = names
        return ", ".join([*keys, f"a range of {column}"])
