"""Accumulate: per group the accumulators from which aggregates are finished.

    n        row count                   Σ w
    nn_i     rows where x_i is there     Σ w [x_i is not null]
    sum_i    sum                         Σ w · x_i
    sqk_i    sum of squares, in parts    Σ_k sqk_i = Σ w · x_i²
    min_i    least, max_i greatest       over rows that exist
    scale_i  no fewer decimals than the widest value of a group has

All but the last two lines are linear: the accumulators of A + Δ are those of A plus those of Δ.
Over a change, min and max give two columns: the extreme of the rows added, and of those
removed. Only where a removed value equals the stored extreme must the group be read again.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgstream.algebra.operators.aggregate import (
    DEVIATIONS,
    MOMENTS,
    SAMPLES,
    Aggregate,
    AggregateCall,
)
from pgstream.algebra.operators.node import (
    Column,
    Expects,
    IsEmpty,
    Keys,
    Node,
    OfDeltaTrees,
    Origin,
    Restrict,
    names_at,
)
from pgstream.algebra.types import BIGINT, DOUBLE, INTEGER, NUMERIC, Type

LIMB = 13
"""The square of a number of so many digits leaves a sum of 38 digits room for 10¹² rows."""
_INTEGER_LIMBS = {"smallint": 1, "integer": 1, "bigint": 2}
_MOST_LIMBS = 3


@dataclass(frozen=True, slots=True)
class Accumulator:
    kind: str  # n, nn, sum, sq, min, max, scale
    argument: int | None
    type: Type
    part: int | None = None

    @property
    def name(self) -> str:
        kind = self.kind if self.part is None else f"{self.kind}{self.part}"
        return kind if self.argument is None else f"{kind}_{self.argument}"

    @property
    def is_extreme(self) -> bool:
        return self.kind in ("min", "max")


@dataclass(frozen=True, eq=False)
class Accumulate(OfDeltaTrees):
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

    def describe(self) -> str:
        listed = ", ".join(a.name for a in self.accumulators)
        return f"Accumulate {listed} by ({names_at(self.keys, self.input.columns)})"

    def restrict(self, indexes: tuple[int, ...], keys: Keys, down: Restrict) -> Node | None:
        return None

    def origins_of(self, index: int) -> tuple[Origin, ...]:
        return (Origin(0, self.keys[index]),) if index < len(self.keys) else ()

    def gives_nothing(self, is_empty: IsEmpty) -> bool:
        return bool(self.keys) and is_empty(self.input)

    def expected_rows(self, expect: Expects) -> float:
        return expect.distinct(self.input, self.keys) if self.keys else 1.0

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
    found = [present, Accumulator("sum", call.argument, _sum_type(type_))]
    if call.function in MOMENTS:
        parts = range(2 * limbs_of(type_) - 1)
        found += [Accumulator("sq", call.argument, NUMERIC, part) for part in parts]
    if call.scale is not None:
        found.append(Accumulator("scale", call.scale, INTEGER))
    return found


def _sum_type(type_: Type) -> Type:
    if type_.is_float:
        return DOUBLE
    return NUMERIC if type_.is_numeric or type_.name == "bigint" else BIGINT


def limbs_of(type_: Type) -> int:
    """How many limbs hold the digits of a value of the type."""
    if type_.is_integer:
        return _INTEGER_LIMBS[type_.name]
    if type_.digits is None:
        return _MOST_LIMBS
    precision, scale = type_.digits
    return min(-(-(precision + max(-scale, 0)) // LIMB), _MOST_LIMBS)


# --- finishing ------------------------------------------------------------------------------


def finish_sql(call: AggregateCall, node: Aggregate) -> str:
    """The aggregate's value from its accumulators, in PostgreSQL's dialect.

    PostgreSQL divides, so that the value has the digits that PostgreSQL gives it.
    """
    return _finished(call, node, None if call.scale is None else f'"scale_{call.scale}"')


def unsure_sql(call: AggregateCall, node: Aggregate) -> str | None:
    """Whether the value's digits are open; None if they never are.

    A group has at most `scale_i` decimals and no fewer than its sums have without trailing
    zeros. Both give the same digits if they give a result as many decimals.
    """
    if call.scale is None:
        return None
    most, least = finish_sql(call, node), _finished(call, node, _least_scale(call, node))
    return f"scale({most}) IS DISTINCT FROM scale({least})"


def _finished(call: AggregateCall, node: Aggregate, scale: str | None) -> str:
    """`scale` gives the argument's decimals where its type does not tell."""
    if call.argument is None:
        return '"n"'
    present, total = f'"nn_{call.argument}"', f'"sum_{call.argument}"'
    if call.function == "count":
        return present
    if call.function in ("min", "max"):
        return f'"{call.function}_{call.argument}"'
    if call.function == "sum":
        return f"CASE WHEN {present} > 0 THEN CAST({total} AS {call.type.name}) END"
    if scale is not None:
        total = f"round({total}, {scale})"
    if call.function in MOMENTS:
        squares = _squares(call, node)
        if scale is not None:
            squares = f"round({squares}, 2 * {scale})"
        return moment_sql(call.function, present, total, squares)
    kind = "double precision" if call.type.is_float else "numeric"
    divided = f"CAST({total} AS {kind}) / {present}"
    return f"CASE WHEN {present} > 0 THEN CAST({divided} AS {call.type.name}) END"


def moment_sql(function: str, number: str, total: str, squares: str) -> str:
    """A variance or a standard deviation, digit for digit PostgreSQL's.

        (N Σx² − (Σx)²) / (N (N − 1)),  or over N² of a population

    PostgreSQL draws the root with as many decimals as the quotient has. sqrt() may choose
    more, so it is given enough that rounding once more does no harm: a root of a number with
    d decimals is no nearer than 10^-(2d + its own digits + 2) to a number with d + 1.
    """
    least, divisor = (1, "n * (n - 1)") if function in SAMPLES else (0, "n * n")
    variance = (
        f"SELECT CASE WHEN n * q > s * s THEN (n * q - s * s) / ({divisor}) ELSE 0 END AS v"
        f" FROM (SELECT CAST({number} AS numeric), CAST({total} AS numeric), {squares})"
        f" AS sums(n, s, q) WHERE n > {least}"
    )
    if function not in DEVIATIONS:
        return f"({variance})"
    return (
        "(SELECT round(sqrt(round(v, 2 * scale(v) + 60)), scale(v))"
        f" FROM ({variance}) AS variances)"
    )


def _squares(call: AggregateCall, node: Aggregate) -> str:
    assert call.argument is not None
    parts = range(2 * limbs_of(node.input.columns[call.argument].type) - 1)
    return "(" + " + ".join(f'"sq{part}_{call.argument}"' for part in parts) + ")"


def _least_scale(call: AggregateCall, node: Aggregate) -> str:
    least = f'min_scale("sum_{call.argument}")'
    if call.function not in MOMENTS:
        return least
    return f"GREATEST({least}, (min_scale({_squares(call, node)}) + 1) / 2)"
