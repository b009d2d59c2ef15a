"""Weigh: every row as often as an integer expression over it says.

    w' = w · count(row)

Linear, so Δ Weigh(A) = Weigh(Δ A). INTERSECT ALL and EXCEPT ALL end in it.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgstream.algebra.expressions import Expression
from pgstream.algebra.operators.node import in_words
from pgstream.algebra.operators.row_local import RowLocal


@dataclass(frozen=True, eq=False)
class Weigh(RowLocal):
    count: Expression

    def describe(self) -> str:
        return f"Weigh {in_words(self.count, self.input.columns)}"
