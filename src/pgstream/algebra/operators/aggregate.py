"""Aggregate: one row per group; without grouping columns, always exactly one row.

Key-local on the grouping columns K:

    Δ γ(A) = γ(A after ⋉ K) − γ(A before ⋉ K),  K = keys(Δ A)

The functions are weight-aware (count = Σw, sum = Σw·x). For the others, input with weights of
both signs is consolidated first, so that min and max see rows that exist. `refresh` uses the stored
accumulators instead where the aggregate is what the stream table stores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgstream.algebra.operators.keys import local_delta
from pgstream.algebra.operators.node import Column, Node
from pgstream.algebra.types import Type

if TYPE_CHECKING:
    from pgstream.algebra.differentiate import Differential


SAMPLES = frozenset(("variance", "var_samp", "stddev", "stddev_samp"))
DEVIATIONS = frozenset(("stddev", "stddev_samp", "stddev_pop"))
MOMENTS = SAMPLES | DEVIATIONS | {"var_pop"}


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """`function(column)`; `argument` None is COUNT(*). The function `single` is the value of
    the group's only row; a second row is an error."""

    function: str
    argument: int | None
    type: Type
    scale: int | None = None
    """The column that has the argument's number of decimals, where its type does not tell and
    the result's digits depend on it."""


@dataclass(frozen=True, eq=False)
class Aggregate(Node):
    input: Node
    keys: tuple[int, ...]
    calls: tuple[AggregateCall, ...]

    def __post_init__(self) -> None:
        assert self.keys or self.calls, "without both it would be OneRow"

    @property
    def columns(self) -> tuple[Column, ...]:
        keys = tuple(self.input.columns[i] for i in self.keys)
        return keys + tuple(Column(call.function, call.type) for call in self.calls)

    @property
    def needs_positive_input(self) -> bool:
        return not all(map(self.is_linear, self.calls))

    @property
    def output_is_positive(self) -> bool:
        return True

    def is_linear(self, call: AggregateCall) -> bool:
        """Σw does not ask in which rows the weights stand. Σw·x does: of no rows it is NULL, and
        ∞ − ∞ is not 0."""
        return call.argument is None or call.function == "count"


def delta(node: Aggregate, change: Differential) -> Node | None:
    return local_delta(node, node.input, node.keys, change)
