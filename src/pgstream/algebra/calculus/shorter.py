"""shorter: the change of a node by the rule that names the fewest relations.

Spark analyses each relation that a statement names, which takes longer than the few rows that it
holds. Where several inputs change, the rule of an operator by itself repeats what stands below it.
"""

from __future__ import annotations

from pgstream.algebra.calculus.touched_keys import by_touched_keys
from pgstream.algebra.calculus.two_terms import two_terms
from pgstream.algebra.operators.node import Calculus, Node

RULES = (two_terms, by_touched_keys)
"""Each says which nodes it is about."""


def shorter(node: Node, plain: Node | None, change: Calculus) -> Node | None:
    """The change of the node: `plain` by its own rule, unless another names fewer relations."""
    if plain is None:
        return None
    others = [rule(node, change) for rule in RULES]
    known = [plain, *(each for each in others if each is not None)]
    return min(known, key=lambda tree: tree.named_relations)
