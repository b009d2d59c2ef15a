"""Shared: a relation that is read in several places and computed once, such as a CTE.

Δ Shared(A) = Shared(Δ A)
"""

from __future__ import annotations

from dataclasses import dataclass

from pgstream.algebra.operators.node import Keys, Node, Restrict
from pgstream.algebra.operators.row_local import RowLocal


@dataclass(frozen=True, eq=False)
class Shared(RowLocal):
    name: str

    def describe(self) -> str:
        return f"Shared {self.name}"

    def restrict(self, indexes: tuple[int, ...], keys: Keys, down: Restrict) -> Node | None:
        """What is read by key is another relation for each set of keys: nothing is shared."""
        return down(self.input, indexes, keys)

    @property
    def is_at_hand(self) -> bool:
        return True
