"""touched_keys: the change of a LEFT, semi- or anti-join of which both sides change.

    Δ(A ∘ B) = (A after ⋉ K) ∘ (B after ⋉ K) − (A before ⋉ K) ∘ (B before ⋉ K)
    K = keys(Δ A) ∪ keys(Δ B)

These joins are key-local, too: what they give for a key depends on the rows of that key alone. So
each side is named twice, and the change of A only for its keys. The linear rule names A twice, B
three times, and the change of A besides, which again names what A is made of: of joins within
joins it grows with the square of their number.

The driver must find the keys of A's change. Where Spark computes them, because they are made of
several relations, the change of A is computed by itself, and the linear rule names just its rows.

It reads all rows of A with a key that changed, where the linear rule reads those of B's change. So
it is taken only where few rows of A have the same key. Rows of A with a NULL key have no partner,
unless NULLs match; where they are shown nevertheless, they are a key as any other.

The sum is consolidated, so that what has not changed shows no keys to those above.
"""

from __future__ import annotations

from pgstream.algebra.operators.by_both_keys import by_both_keys
from pgstream.algebra.operators.join import Pairing
from pgstream.algebra.operators.negate import Consolidate
from pgstream.algebra.operators.node import Calculus, Node

FEWEST_ON_LEFT = 2
"""Of one relation the linear rule is nearly as short, and reads less."""
MOST_ROWS = 10.0
"""How many rows of the left side may be expected to have the same key."""


def by_touched_keys(node: Node, change: Calculus) -> Node | None:
    """None where the rule does not apply."""
    if not isinstance(node, Pairing) or not node.is_linear_left or not node.on:
        return None
    if node.left.named_relations < FEWEST_ON_LEFT:
        return None
    if change.delta(node.left) is None or change.delta(node.right) is None:
        return None
    if node.left.shown_by(node.left_keys) is None or not _has_rare_keys(node):
        return None
    nulls = node.nulls_match or node.keeps_left, node.nulls_match
    found = by_both_keys(node, change, nulls)
    return found and Consolidate(found)


def _has_rare_keys(node: Pairing) -> bool:
    few = node.left.rows_per_key(node.left_keys) <= MOST_ROWS
    return few and node.left.rows_without_key(node.left_keys) <= MOST_ROWS
