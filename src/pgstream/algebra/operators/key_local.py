"""The key-local rule: what an operator gives for a key depends on the rows of that key only.

Δ F(A) = F(A after ⋉ K) − F(A before ⋉ K),  K = keys(Δ A)
"""

from __future__ import annotations

from pgstream.algebra.operators.negate import negate, over
from pgstream.algebra.operators.node import Calculus, Keys, Node
from pgstream.algebra.operators.union_all import add


def local_delta(node: Node, keys: tuple[int, ...], change: Calculus) -> Node | None:
    """The change of an operator with one input; without keys it is computed again."""
    (input,) = node.inputs
    inner = change.delta(input)
    if inner is None:
        return None
    after, before = change.after(input), change.before(input)
    if keys:
        touched = Keys(inner, keys)
        after = change.restrict(after, keys, touched)
        before = change.restrict(before, keys, touched)
    return add(over(node, after), negate(over(node, before)))
