"""The rule of joins of which both sides are read by the keys that changed in either.

    Δ(A ∘ B) = (A after ⋉ K) ∘ (B after ⋉ K) − (A before ⋉ K) ∘ (B before ⋉ K)
    K = keys(Δ A) ∪ keys(Δ B)

Exact for all joins: what they give for a key depends on the rows of that key alone. `nulls` says of
which sides rows with a NULL key count.
"""

from __future__ import annotations

from pgstream.algebra.operators.join import Pairing
from pgstream.algebra.operators.negate import negate, over
from pgstream.algebra.operators.node import Calculus, Keys, Node
from pgstream.algebra.operators.project import pick
from pgstream.algebra.operators.union_all import add


def by_both_keys(node: Pairing, change: Calculus, nulls: tuple[bool, bool]) -> Node | None:
    left, right = change.delta(node.left), change.delta(node.right)
    # A sum of keys, never consolidated: +1 on one side and −1 on the other is still a key.
    touched = add(
        left and pick(left, node.left_keys),
        right and pick(right, node.right_keys),
    )
    if touched is None:
        return None

    def of_keys(left: Node, right: Node) -> Node:
        """The join of the rows with the touched keys; of all rows, where it has no equality."""
        if node.on:
            every = tuple(range(len(node.on)))
            by_left, by_right = (Keys(touched, every, each) for each in nulls)
            left = change.restrict(left, node.left_keys, by_left)
            right = change.restrict(right, node.right_keys, by_right)
        return over(node, left, right)

    after = of_keys(change.after(node.left), change.after(node.right))
    before = of_keys(change.before(node.left), change.before(node.right))
    return add(after, negate(before))
