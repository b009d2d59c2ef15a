"""OneRow: a single row without columns, the input of a SELECT without FROM.

Δ OneRow = 0
"""

from __future__ import annotations

from dataclasses import dataclass

from pgstream.algebra.operators.leaf import Leaf
from pgstream.algebra.operators.node import Calculus, Column, Node


@dataclass(frozen=True, eq=False)
class OneRow(Leaf):
    @property
    def columns(self) -> tuple[Column, ...]:
        return ()

    def describe(self) -> str:
        return "OneRow"

    def delta(self, change: Calculus) -> Node | None:
        return None
