"""push_down: puts each conjunct of a condition as deep into the tree as it goes.

σ(p ∧ q)(A ⋈ B) = σp(A) ⋈ σq(B), where p reads A only and q reads B only.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgstream.algebra.expressions import Expression, conjunction
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.outer_join import outer_joined
from pgstream.algebra.placement.spark_list import spark_refusal


def push_down(tree: Node, conditions: Sequence[Expression]) -> Node:
    """The rows for which all conditions are true."""
    pushed = tree.push_down(conditions, push_down, spark_refusal)
    if pushed is not None:
        return pushed
    predicate = conjunction(conditions)
    return tree if predicate is None else Filter(tree, predicate)


def outer_join(
    left: Node, right: Node, conditions: Sequence[Expression], keeps_right: bool
) -> Node:
    """The outer join by the conditions of its ON."""
    return outer_joined(left, right, conditions, keeps_right, push_down, spark_refusal)
