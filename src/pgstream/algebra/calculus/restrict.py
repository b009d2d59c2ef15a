"""restrict: A ⋉ K without reading A.

    restrict(A, c, K) = A ⋉ K on the columns c

The key set goes down the tree, as each operator lets it. At a stored table it becomes a lookup; at
a join the rows found on one side give the keys for the other, so that a chain of joins is a chain
of lookups. Where a key cannot go down, the relation below is read and filtered: the `KeyFilter`
that stays is what `explain_st` reports.
"""

from __future__ import annotations

from pgstream.algebra.operators.key_filter import key_filtered
from pgstream.algebra.operators.node import Keys, Node


def restrict(node: Node, indexes: tuple[int, ...], keys: Keys) -> Node:
    narrowed = node.restrict(indexes, keys, restrict)
    return key_filtered(node, indexes, keys) if narrowed is None else narrowed
