"""Parameter: rows that are at hand already, such as the groups to read again."""

from __future__ import annotations

from dataclasses import dataclass

from pgstream.algebra.operators.leaf import Leaf
from pgstream.algebra.operators.node import Column, OfDeltaTrees


@dataclass(frozen=True, eq=False)
class Parameter(OfDeltaTrees, Leaf):
    name: str
    shape: tuple[Column, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.shape

    def describe(self) -> str:
        return f"Parameter {self.name}"
