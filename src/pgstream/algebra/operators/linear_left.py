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
        left = change.restrict(left, node.left_keys, touched)
        new, old = (change.restrict(side, node.right_keys, touched) for side in (new, old))
    return add(over(node, left, new), negate(over(node, left, old)))
