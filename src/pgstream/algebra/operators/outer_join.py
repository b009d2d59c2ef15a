"""OuterJoin: LEFT and FULL join. (RIGHT is LEFT with its sides exchanged.)

LEFT is linear in its left side and key-local in its right one:

    Δ(A ⟕ B) = Δ A ⟕ B after + (A before ⋉ K ⟕ B after) − (A before ⋉ K ⟕ B before)
    K = keys(Δ B)

FULL is key-local in both. Whether a row of B is padded depends on all rows of A with its key, so
a linear rule would read these too:

    Δ(A ⟗ B) = (A after ⋉ K ⟗ B after ⋉ K) − (A before ⋉ K ⟗ B before ⋉ K)
    K = keys(Δ A) ∪ keys(Δ B)

No case analysis: a first match, a last match and a padded row that changes are all in it.
Unless `nulls_match`, a row with a NULL key matches nothing; it is there, padded, if its side
is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pgstream.algebra.expressions import Expression, conjunction, refs, shift
from pgstream.algebra.operators.by_both_keys import by_both_keys
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Pairing, key_pair
from pgstream.algebra.operators.key_filter import key_filtered
from pgstream.algebra.operators.linear_left import linear_left_delta
from pgstream.algebra.operators.node import (
    Calculus,
    ColumnsOf,
    IsEmpty,
    Keys,
    Node,
    Origin,
    PushDown,
    Refusal,
    Restrict,
)
from pgstream.errors import UnsupportedExpression


@dataclass(frozen=True, eq=False)
class OuterJoin(Pairing):
    keeps_right: bool = False
    """FULL: rows of the right side without a partner are kept too."""

    @property
    def is_linear_left(self) -> bool:
        return not self.keeps_right

    @property
    def keeps_left(self) -> bool:
        return True

    def describe(self) -> str:
        return self.words("FullJoin" if self.keeps_right else "LeftJoin")

    def delta(self, change: Calculus) -> Node | None:
        if not self.keeps_right:
            return linear_left_delta(self, change)
        return by_both_keys(self, change, nulls=(True, True))

    def restrict(self, indexes: tuple[int, ...], keys: Keys, down: Restrict) -> Node | None:
        """Like a join, as long as no row that is padded on the wanted columns is wanted.

        A padded column is NULL, so keys without NULL want rows that their side really has; LEFT
        never pads its left side. The key filter above drops what the narrowed join pads by itself.
        """
        width = len(self.left.columns)
        on_left = tuple(p for p, i in enumerate(indexes) if i < width)
        if (not self.on and not on_left) or (keys.nulls and (self.keeps_right or not on_left)):
            return None
        if on_left:
            left = down(self.left, tuple(indexes[p] for p in on_left), keys.pick(on_left))
            right = self.right_beside(left, down)
        else:
            right = down(self.right, tuple(i - width for i in indexes), keys)
            left = self.left_beside(right, down)
        narrowed = self.with_inputs(left, right)
        exact = len(on_left) == len(indexes) and not self.keeps_right
        return narrowed if exact else key_filtered(narrowed, indexes, keys)

    def origins_of(self, index: int) -> tuple[Origin, ...]:
        """The left side of LEFT is never padded; a padded NULL is no value of a side."""
        is_padded = self.keeps_right or index >= len(self.left.columns)
        return () if is_padded else (Origin(0, index),)

    def shown_by(self, indexes: tuple[int, ...]) -> list[ColumnsOf] | None:
        return None if self.keeps_right else super().shown_by(indexes)

    @property
    def needs_positive(self) -> tuple[bool, ...]:
        return (self.keeps_right, True)

    @property
    def read_again(self) -> tuple[ColumnsOf, ...]:
        return ((self.left, self.left_keys), (self.right, self.right_keys))

    def nonlinear_in(self, input: Node) -> str | None:
        linear = not self.keeps_right and input is self.left
        return None if linear else "the side of an outer join that is padded"

    def gives_nothing(self, is_empty: IsEmpty) -> bool:
        return is_empty(self.left) and (not self.keeps_right or is_empty(self.right))

    # --- who evaluates what -------------------------------------------------------------------

    def legalized(self, refusal: Refusal) -> Node:
        refused = refusal(self.condition) if self.condition is not None else None
        if refused is None:
            return self
        raise UnsupportedExpression(
            f"The expression {refused} cannot be computed exactly in the ON of an outer join.",
            construct=refused.split(" on ")[0],
            detail="Spark does not evaluate it as PostgreSQL does, and it does not read the "
            "columns of one table only.",
            hint="Compute it in a subquery in FROM, and compare its column in ON.",
        )

    def push_down(
        self, conditions: Sequence[Expression], down: PushDown, refusal: Refusal
    ) -> Node | None:
        """Only what reads the left side of a LEFT join goes below it."""
        width = len(self.left.columns)
        below: list[Expression] = []
        above: list[Expression] = []
        for part in conditions:
            used = refs(part)
            goes = not self.keeps_right and used and max(used) < width
            (below if goes else above).append(part)
        joined = self.with_inputs(down(self.left, below), self.right)
        predicate = conjunction(above)
        return joined if predicate is None else Filter(joined, predicate)


def outer_joined(
    left: Node,
    right: Node,
    conditions: Sequence[Expression],
    keeps_right: bool,
    down: PushDown,
    refusal: Refusal,
) -> OuterJoin:
    """By the conditions of ON: key pairs, conditions of the right side alone, and the rest."""
    width = len(left.columns)
    on: list[tuple[int, int]] = []
    inner: list[Expression] = []
    rest: list[Expression] = []
    for part in conditions:
        used = refs(part)
        if pair := key_pair(part, width, refusal):
            on.append(pair)
        elif used and min(used) >= width and not keeps_right:
            inner.append(shift(part, -width))
        else:
            rest.append(part)
    right = down(right, inner)
    return OuterJoin(left, right, tuple(on), conjunction(rest), keeps_right=keeps_right)
