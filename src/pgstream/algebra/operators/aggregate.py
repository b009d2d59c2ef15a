"""Aggregate: one row per group; without grouping columns, always exactly one row.

Key-local on the grouping columns K:

    Δ γ(A) = γ(A after ⋉ K) − γ(A before ⋉ K),  K = keys(Δ A)

The functions are weight-aware (count = Σw, sum = Σw·x). Input with weights of both signs
is consolidated first, so that min and max see rows that exist. `refresh` uses the stored
accumulators instead where the aggregate is what the stream table stores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgstream.algebra.operators.keys import Keys
from pgstream.algebra.operators.negate import negate, settled
from pgstream.algebra.operators.node import Column, Node
from pgstream.algebra.operators.union_all import add
from pgstream.algebra.types import Type

if TYPE_CHECKING:
    from pgstream.algebra.differentiate import Differential

FUNCTIONS = ("count", "sum", "avg", "min", "max")


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """`function(column)`; `argument` None is COUNT(*)."""

    function: str
    argument: int | None
    type: Type


@dataclass(frozen=True)
class Aggregate(Node):
    input: Node
    keys: tuple[int, ...]
    calls: tuple[AggregateCall, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        keys = tuple(self.input.columns[i] for i in self.keys)
        return keys + tuple(Column(call.function, call.type) for call in self.calls)


def delta(node: Aggregate, change: Differential) -> Node | None:
    inner = change.delta(node.input)
    if inner is None:
        return None
    after, before = change.after(node.input), change.before(node.input)
    if node.keys:
        keys = Keys(inner, node.keys)
        after = change.restrict(after, node.keys, keys)
        before = change.restrict(before, node.keys, keys)
    return add(
        Aggregate(settled(after), node.keys, node.calls),
        negate(Aggregate(settled(before), node.keys, node.calls)),
    )
