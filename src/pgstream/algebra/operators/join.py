"""Join: inner and cross join. Weights multiply.

Δ(A ⋈ B) = Δ A ⋈ B after + A before ⋈ Δ B

Exact when both sides change, also in a self-join. The unchanged side is read by the keys
of the changed one. `on` pairs the equality columns; `condition` is the rest of the join
condition, over the columns of both sides. NULLs match only where `nulls_match`: a subquery is
joined to the rows around it by the values that it was computed for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgstream.algebra.expressions import Expression
from pgstream.algebra.operators.keys import Keys
from pgstream.algebra.operators.node import Column, Node
from pgstream.algebra.operators.union_all import add

if TYPE_CHECKING:
    from pgstream.algebra.differentiate import Differential


@dataclass(frozen=True, eq=False)
class Pairing(Node):
    """What all joins have: two sides, key pairs, and the rest of the condition."""

    left: Node
    right: Node
    on: tuple[tuple[int, int], ...] = ()
    condition: Expression | None = None
    nulls_match: bool = False

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.left.columns + self.right.columns

    @property
    def left_keys(self) -> tuple[int, ...]:
        return tuple(left for left, _ in self.on)

    @property
    def right_keys(self) -> tuple[int, ...]:
        return tuple(right for _, right in self.on)


@dataclass(frozen=True, eq=False)
class Join(Pairing):
    """Inner or cross join."""


def delta(node: Join, change: Differential) -> Node | None:
    left, right = change.delta(node.left), change.delta(node.right)
    terms: list[Node | None] = []
    if left is not None:
        partner = change.after(node.right)
        if node.on:
            partner = change.restrict(
                partner, node.right_keys, Keys(left, node.left_keys, node.nulls_match)
            )
        terms.append(node.with_inputs(left, partner))
    if right is not None:
        partner = change.before(node.left)
        if node.on:
            partner = change.restrict(
                partner, node.left_keys, Keys(right, node.right_keys, node.nulls_match)
            )
        terms.append(node.with_inputs(partner, right))
    return add(*terms)
