"""Accumulate: per group the accumulators from which aggregates are finished.

    n      row count                 Σ w
    nn_i   rows where x_i is there   Σ w [x_i is not null]
    sum_i  sum                       Σ w · x_i
    min_i  least, max_i greatest     over rows that exist

All but min and max are linear: the accumulators of A + Δ are those of A plus those of Δ.
Over a change, min and max give two columns: the extreme of the rows added, and of those
removed. Only where a removed value equals the stored extreme must the group be read again.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgstream.algebra.operators.aggregate import Aggregate, AggregateCall
from pgstream.algebra.operators.node import Column, Node
from pgstream.algebra.types import BIGINT, DOUBLE, NUMERIC, Type


@dataclass(frozen=True, slots=True)
class Accumulator:
    kind: str  # n, nn, sum, min, max
    argument: int | None
    type: Type

    @property
    def name(self) -> str:
        return self.kind if self.argument is None else f"{self.kind}_{self.argument}"

    @property
    def is_extreme(self) -> bool:
        return self.kind in ("min", "max")


@dataclass(frozen=True, eq=False)
class Accumulate(Node):
    input: Node
    keys: tuple[int, ...]
    accumulators: tuple[Accumulator, ...]
    of_change: bool

    @property
    def columns(self) -> tuple[Column, ...]:
        keys = [Column(f"k{i}", self.input.columns[k].type) for i, k in enumerate(self.keys)]
        sums = [Column(a.name, a.type) for a in self.accumulators]
        removed = [Column(f"removed_{a.name}", a.type) for a in self.removed]
        return tuple(keys + sums + removed)

    @property
    def removed(self) -> tuple[Accumulator, ...]:
        return tuple(a for a in self.accumulators if a.is_extreme and self.of_change)


def accumulators_for(node: Aggregate) -> tuple[Accumulator, ...]:
    """What must be kept for the calls of an aggregate, each once."""
    found = [Accumulator("n", None, BIGINT)]
    for call in node.calls:
        for accumulator in _for_call(call, node):
            if accumulator not in found:
                found.append(accumulator)
    return tuple(found)


def _for_call(call: AggregateCall, node: Aggregate) -> list[Accumulator]:
    if call.argument is None:
        return []
    present = Accumulator("nn", call.argument, BIGINT)
    type_ = node.input.columns[call.argument].type
    if call.function == "count":
        return [present]
    if call.function in ("min", "max"):
        return [Accumulator(call.function, call.argument, type_)]
    return [present, Accumulator("sum", call.argument, _sum_type(type_))]


def _sum_type(type_: Type) -> Type:
    if type_.is_float:
        return DOUBLE
    return NUMERIC if type_.is_numeric or type_.name == "bigint" else BIGINT


def finish_sql(call: AggregateCall, node: Aggregate) -> str:
    """The aggregate's value from its accumulators, in PostgreSQL's dialect.

    PostgreSQL divides, so an average has the digits that PostgreSQL gives it.
    """
    if call.argument is None:
        return '"n"'
    present, total = f'"nn_{call.argument}"', f'"sum_{call.argument}"'
    if call.function == "count":
        return present
    if call.function in ("min", "max"):
        return f'"{call.function}_{call.argument}"'
    if call.function == "sum":
        return f"CASE WHEN {present} > 0 THEN CAST({total} AS {call.type.name}) END"
    kind = "double precision" if call.type.is_float else "numeric"
    divided = f"CAST({total} AS {kind}) / {present}"
    return f"CASE WHEN {present} > 0 THEN CAST({divided} AS {call.type.name}) END"
