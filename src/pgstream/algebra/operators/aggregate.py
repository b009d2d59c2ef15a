"""Aggregate: one row per group; without grouping columns, always exactly one row.

Key-local on the grouping columns K:

    Δ γ(A) = γ(A after ⋉ K) − γ(A before ⋉ K),  K = keys(Δ A)

The functions are weight-aware (count = Σw, sum = Σw·x). For the others, input with weights of
both signs is consolidated first, so that min and max see rows that exist. `refresh` uses the stored
accumulators instead where the aggregate is what the stream table stores.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pgstream.algebra.operators.key_filter import through_kept
from pgstream.algebra.operators.key_local import local_delta
from pgstream.algebra.operators.node import (
    Calculus,
    Column,
    ColumnsOf,
    Expects,
    IsEmpty,
    Keys,
    Node,
    Origin,
    Restrict,
    Retype,
    names_at,
)
from pgstream.algebra.types import Type

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

    @property
    def is_single(self) -> bool:
        """Whether it takes a value over as it is."""
        return self.function == "single" and self.argument is not None


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

    def describe(self) -> str:
        columns = self.input.columns
        listed = [
            f"{c.function}({'*' if c.argument is None else columns[c.argument].name})"
            for c in self.calls
        ]
        return f"Aggregate {', '.join(listed)} by ({names_at(self.keys, columns)})"

    def delta(self, change: Calculus) -> Node | None:
        return local_delta(self, self.keys, change)

    def restrict(self, indexes: tuple[int, ...], keys: Keys, down: Restrict) -> Node | None:
        kept = self.keys + (None,) * len(self.calls)
        return through_kept(self, kept, indexes, keys, down)

    def rows_per_key(self, indexes: tuple[int, ...]) -> float:
        return 1.0 if set(range(len(self.keys))) <= set(indexes) else super().rows_per_key(indexes)

    def origins_of(self, index: int) -> tuple[Origin, ...]:
        return (Origin(0, self.keys[index]),) if index < len(self.keys) else ()

    @property
    def needs_positive(self) -> tuple[bool, ...]:
        return (not all(map(self.is_linear, self.calls)),)

    @property
    def output_is_positive(self) -> bool:
        return True

    def is_linear(self, call: AggregateCall) -> bool:
        """Σw does not ask in which rows the weights stand. Σw·x does: of no rows it is NULL, and
        ∞ − ∞ is not 0."""
        return call.argument is None or call.function == "count"

    @property
    def read_again(self) -> tuple[ColumnsOf, ...]:
        return ((self.input, self.keys),)

    def nonlinear_in(self, input: Node) -> str | None:
        return "GROUP BY or DISTINCT"

    def gives_nothing(self, is_empty: IsEmpty) -> bool:
        return bool(self.keys) and is_empty(self.input)

    def expected_rows(self, expect: Expects) -> float:
        return expect.distinct(self.input, self.keys) if self.keys else 1.0

    # --- in which form values travel ------------------------------------------------------------

    def flows(self, index: int) -> tuple[Origin, ...]:
        if index < len(self.keys):
            return self.origins_of(index)
        call = self.calls[index - len(self.keys)]
        taken = call.argument if call.is_single else None
        return () if taken is None else (Origin(0, taken),)

    def computes(self, index: int) -> bool:
        return index >= len(self.keys) and not self.calls[index - len(self.keys)].is_single

    @property
    def reads(self) -> Iterator[Origin]:
        yield from (Origin(0, key) for key in self.keys)
        for call in self.calls:
            if call.argument is not None and call.function not in ("count", "single"):
                yield Origin(0, call.argument)

    def retyped(self, retype: Retype) -> Node:
        calls = [
            replace(call, type=retype(i, call.type))
            for i, call in enumerate(self.calls, len(self.keys))
        ]
        return replace(self, calls=tuple(calls))
