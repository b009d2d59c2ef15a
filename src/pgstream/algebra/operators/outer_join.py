"""OuterJoin: LEFT and FULL join. (RIGHT is LEFT with its sides exchanged.)

Key-local on the equality columns K:

    Δ(A ⟕ B) = (A after ⋉ K ⟕ B after ⋉ K) − (A before ⋉ K ⟕ B before ⋉ K)
    K = keys(Δ A) ∪ keys(Δ B)

No case analysis: a first match, a last match and a padded row that changes are all in it.
Unless `nulls_match`, a row with a NULL key matches nothing; it is there, padded, if its side
is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgstream.algebra.operators.join import Pairing
from pgstream.algebra.operators.keys import Keys
from pgstream.algebra.operators.negate import negate, settled
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.project import pick
from pgstream.algebra.operators.union_all import add

if TYPE_CHECKING:
    from pgstream.algebra.differentiate import Differential


@dataclass(frozen=True, eq=False)
class OuterJoin(Pairing):
    keeps_right: bool = False
    """FULL: rows of the right side without a partner are kept too."""

    @property
    def needs_positive_input(self) -> bool:
        return True


def delta(node: OuterJoin, change: Differential) -> Node | None:
    left, right = change.delta(node.left), change.delta(node.right)
    # A sum of keys, never consolidated: +1 on one side and −1 on the other is still a key.
    touched = add(
        left and pick(left, node.left_keys),
        right and pick(right, node.right_keys),
    )
    if touched is None:
        return None

    def side(tree: Node, indexes: tuple[int, ...], nulls: bool) -> Node:
        if not node.on:
            return settled(tree)  # the empty key: the operator is computed anew
        keys = Keys(touched, tuple(range(len(node.on))), nulls)
        return settled(change.restrict(tree, indexes, keys))

    def joined(first: Node, second: Node) -> Node:
        right_nulls = node.keeps_right or node.nulls_match
        return node.with_inputs(
            side(first, node.left_keys, True), side(second, node.right_keys, right_nulls)
        )

    after = joined(change.after(node.left), change.after(node.right))
    before = joined(change.before(node.left), change.before(node.right))
    return add(after, negate(before))
