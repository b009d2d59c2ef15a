"""drop_true: a condition that is always true says nothing.

    σ(p ∧ true)(A) = σp(A)        σtrue(A) = A        the same for the conditions of joins

Lowering leaves it where EXISTS or IN has become a join.
"""

from __future__ import annotations

from dataclasses import replace

from pgstream.algebra.expressions import Expression, Literal, conjunction, conjuncts
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Pairing
from pgstream.algebra.operators.node import Node
from pgstream.algebra.optimize.everywhere import everywhere
from pgstream.algebra.types import BOOLEAN

TRUE = Literal("t", BOOLEAN)


def drop_true(tree: Node) -> Node:
    return everywhere(tree, _without_true)


def _without_true(node: Node) -> Node:
    if isinstance(node, Filter):
        left = _left_of(node.predicate)
        return node.input if left is None else replace(node, predicate=left)
    if isinstance(node, Pairing) and node.condition is not None:
        return replace(node, condition=_left_of(node.condition))
    return node


def _left_of(condition: Expression) -> Expression | None:
    parts = list(conjuncts(condition))
    left = [part for part in parts if part != TRUE]
    return condition if left == parts else conjunction(left)
