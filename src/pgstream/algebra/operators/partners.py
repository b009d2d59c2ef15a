"""Partners: the rows of a stored table that one of several lookups finds, each once.

    Partners(L₁, L₂, …) = R ⋉ (K₁ on c₁ or K₂ on c₂ or …),   Lᵢ = R ⋉ Kᵢ on cᵢ

It stands in delta trees only. The rows come with their places in the table, by which the driver
takes each of them once. Where executors find rows, a lookup leaves out what those before it find.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgstream.algebra.operators.node import (
    Column,
    ColumnsOf,
    Expects,
    IsEmpty,
    Keys,
    Node,
    OfDeltaTrees,
    Origin,
    Restrict,
)
from pgstream.algebra.operators.scan import Lookup
from pgstream.algebra.operators.semi_join import SemiJoin
from pgstream.algebra.operators.union_all import UnionAll


@dataclass(frozen=True, eq=False)
class Partners(OfDeltaTrees):
    lookups: tuple[Lookup, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.lookups[0].columns

    def describe(self) -> str:
        ways = [", ".join(self.columns[i].name for i in each.indexes) for each in self.lookups]
        return f"Partners {self.lookups[0].stored.scan.source} by {' or '.join(ways)}"

    def restrict(self, indexes: tuple[int, ...], keys: Keys, down: Restrict) -> Node | None:
        return None

    def origins_of(self, index: int) -> tuple[Origin, ...]:
        return tuple(Origin(number, index) for number in range(len(self.lookups)))

    def shown_by(self, indexes: tuple[int, ...]) -> list[ColumnsOf] | None:
        return [(each, indexes) for each in self.lookups]

    @property
    def is_one_relation(self) -> bool:
        return True

    def gives_nothing(self, is_empty: IsEmpty) -> bool:
        return all(map(is_empty, self.lookups))

    def expected_rows(self, expect: Expects) -> float:
        found = sum(map(expect.rows, self.lookups))
        return min(found, expect.rows(self.lookups[0].stored))

    @property
    def apart(self) -> Node:
        """The same rows as a sum: each lookup without what those before it find."""
        return UnionAll(tuple(map(self._own, range(len(self.lookups)))))

    def _own(self, number: int) -> Node:
        rows: Node = self.lookups[number]
        for other in self.lookups[:number]:
            on = tuple(zip(other.indexes, range(len(other.indexes)), strict=True))
            rows = SemiJoin(rows, other.keys, on, None, other.keys.nulls, anti=True)
        return rows
