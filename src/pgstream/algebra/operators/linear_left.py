"""The rule of joins that treat each row of their left side by itself.

    Δ(A ∘ B) = Δ A ∘ B after + (A before ⋉ K) ∘ B after − (A before ⋉ K) ∘ B before
    K = keys(Δ B)

Weights of the left side pass through. The right side must be rows that exist: one with weight +1
and one with −1 are no partner.
"""

from __future__ import annotations

from pgstream.algebra.operators.join import Pairing
from pgstream.algebra.operators.negate import negate, over
from pgstream.algebra.operators.node import Calculus, Keys, Node
from pgstream.algebra.operators.ranges import Ranges
from pgstream.algebra.operators.threshold import threshold
from pgstream.algebra.operators.union_all import add


def linear_left_delta(node: Pairing, change: Calculus) -> Node | None:
    left, right = change.delta(node.left), change.delta(node.right)
    return add(left and _of_left(node, left, change), right and _of_right(node, right, change))


def _of_left(node: Pairing, left: Node, change: Calculus) -> Node:
    now = node.with_inputs(node.left, change.after(node.right))
    return over(node, left, now.right_beside(left, change.restrict))


def _of_right(node: Pairing, right: Node, change: Calculus) -> Node | None:
    """What the rows of A give whose partners have changed, after less before."""
    left, new, old = change.before(node.left), change.after(node.right), change.before(node.right)
    if node.on:
        touched = Keys(right, node.right_keys, node.nulls_match)
        new, old = (change.restrict(side, node.right_keys, touched) for side in (new, old))
    left = _touched(node, left, right, change)
    return add(over(node, left, new), negate(over(node, left, old)))


def _touched(node: Pairing, left: Node, right: Node, change: Calculus) -> Node:
    """The rows of A by the keys of the change; of a semi-join that compares, by its range too."""
    found = threshold(node) if node.only_tests else None
    if found is not None and not node.nulls_match:
        ranges = Ranges(right, node.right_keys, False, found.right)
        return change.restrict(left, (*node.left_keys, found.left), ranges)
    if not node.on:
        return left
    return change.restrict(left, node.left_keys, Keys(right, node.right_keys, node.nulls_match))
