"""place: puts each conjunct of a condition as deep into the tree as it goes.

σ(p ∧ q)(A ⋈ B) = σp(A) ⋈ σq(B), where p reads A only and q reads B only; an equality
between a column of A and a column of B becomes a key of the join.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgstream.algebra.expressions import (
    Call,
    Expression,
    conjunction,
    conjuncts,
    plain_column,
    refs,
    shift,
)
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.spark_list import spark_refusal


def place(tree: Node, parts: Sequence[Expression]) -> Node:
    if isinstance(tree, OuterJoin):
        return _above_outer_join(tree, parts)
    if not isinstance(tree, Join):
        predicate = conjunction(parts)
        return tree if predicate is None else Filter(tree, predicate)
    width = len(tree.left.columns)
    left: list[Expression] = []
    right: list[Expression] = []
    on = list(tree.on)
    rest = list(conjuncts(tree.condition)) if tree.condition else []
    for part in parts:
        used = refs(part)
        if used and max(used) < width:
            left.append(part)
        elif used and min(used) >= width:
            right.append(shift(part, -width))
        elif (pair := _key_pair(part, width)) and not tree.nulls_match:
            on.append(pair)
        else:
            rest.append(part)
    return Join(
        place(tree.left, left),
        place(tree.right, right),
        tuple(on),
        conjunction(rest),
        tree.nulls_match,
    )


def _above_outer_join(tree: OuterJoin, parts: Sequence[Expression]) -> Node:
    """Only what reads the left side of a LEFT join goes below it."""
    width = len(tree.left.columns)
    below: list[Expression] = []
    above: list[Expression] = []
    for part in parts:
        used = refs(part)
        goes = not tree.keeps_right and used and max(used) < width
        (below if goes else above).append(part)
    joined = tree.with_inputs(place(tree.left, below), tree.right)
    predicate = conjunction(above)
    return joined if predicate is None else Filter(joined, predicate)


def outer_join(
    left: Node, right: Node, parts: Sequence[Expression], keeps_right: bool
) -> OuterJoin:
    """ON of an outer join: key pairs, conditions of the right side alone, and the rest."""
    width = len(left.columns)
    on: list[tuple[int, int]] = []
    inner: list[Expression] = []
    rest: list[Expression] = []
    for part in parts:
        used = refs(part)
        if pair := _key_pair(part, width):
            on.append(pair)
        elif used and min(used) >= width and not keeps_right:
            inner.append(shift(part, -width))
        else:
            rest.append(part)
    return OuterJoin(
        left, place(right, inner), tuple(on), conjunction(rest), keeps_right=keeps_right
    )


def _key_pair(part: Expression, width: int) -> tuple[int, int] | None:
    if not (isinstance(part, Call) and part.function == "=") or spark_refusal(part):
        return None
    first, second = (plain_column(side) for side in part.arguments)
    if first is None or second is None:
        return None
    low, high = min(first, second), max(first, second)
    return (low, high - width) if low < width <= high else None
