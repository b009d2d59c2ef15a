"""SemiJoin: the rows of A that have a partner in B; anti, those that have none.

Linear in its left side and key-local in its right one:

    Δ(A ⋉ B) = Δ A ⋉ B after + (A before ⋉ K) ⋉ B after − (A before ⋉ K) ⋉ B before
    K = keys(Δ B)

Rows of B need not be distinct. Where they are, and what is stored of them tells which keys came
or went, only these are in K. Unless `nulls_match`, a row with a NULL key has no partner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pgstream.algebra.expressions import Expression
from pgstream.algebra.operators.join import Pairing
from pgstream.algebra.operators.linear_left import linear_left_delta
from pgstream.algebra.operators.node import (
    Calculus,
    Column,
    ColumnsOf,
    IsEmpty,
    Keys,
    Node,
    Origin,
    PushDown,
    Refusal,
    Restrict,
)


@dataclass(frozen=True, eq=False)
class SemiJoin(Pairing):
    anti: bool = False
    """The rows without a partner are kept instead."""

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.left.columns

    @property
    def only_tests(self) -> bool:
        return True

    @property
    def is_linear_left(self) -> bool:
        return True

    @property
    def keeps_left(self) -> bool:
        return self.anti

    def describe(self) -> str:
        return self.words("AntiJoin" if self.anti else "SemiJoin")

    def delta(self, change: Calculus) -> Node | None:
        return linear_left_delta(self, change)

    def restrict(self, indexes: tuple[int, ...], keys: Keys, down: Restrict) -> Node | None:
        left = down(self.left, indexes, keys)
        return self.with_inputs(left, self.right_beside(left, down))

    def rows_per_key(self, indexes: tuple[int, ...]) -> float:
        return self.left.rows_per_key(indexes)

    def origins_of(self, index: int) -> tuple[Origin, ...]:
        return (Origin(0, index),)

    def tested_by(self, indexes: tuple[int, ...]) -> tuple[tuple[int, ...], Keys] | None:
        if self.anti or not self.on:
            return None
        return self.left_keys, Keys(self.right, self.right_keys, self.nulls_match)

    @property
    def needs_positive(self) -> tuple[bool, ...]:
        return (False, True)

    @property
    def read_again(self) -> tuple[ColumnsOf, ...]:
        return ((self.left, self.left_keys), (self.right, self.right_keys))

    def nonlinear_in(self, input: Node) -> str | None:
        return None if input is self.left else "EXISTS or IN"

    def gives_nothing(self, is_empty: IsEmpty) -> bool:
        return is_empty(self.left) or (not self.anti and is_empty(self.right))

    def push_down(
        self, conditions: Sequence[Expression], down: PushDown, refusal: Refusal
    ) -> Node | None:
        """σp(A ⋉ B) = σp(A) ⋉ B."""
        return self.with_inputs(down(self.left, conditions), self.right)
