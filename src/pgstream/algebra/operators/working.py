"""Working: the rows to which the recursive term of a CTE is applied.

It stands in the recursive term only. Before the term runs it is replaced: by the stored rows of
the CTE, or by the rows that the last round has found.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgstream.algebra.operators.leaf import Leaf
from pgstream.algebra.operators.node import Calculus, Column, Node


@dataclass(frozen=True, eq=False)
class Working(Leaf):
    name: str
    shape: tuple[Column, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.shape

    def describe(self) -> str:
        return f"Working {self.name}"

    def delta(self, change: Calculus) -> Node | None:
        raise AssertionError("it is replaced before its change is asked for")
