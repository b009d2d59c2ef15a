"""Window: the rows with one more column per window function.

Key-local on PARTITION BY:

    Δ W(A) = W(A after ⋉ K) − W(A before ⋉ K),  K = keys(Δ A)

Functions over different partitions are Windows one above the other. Rows that are equal in
the order of a function which counts rows are told apart by all their columns, so that a
partition gives the same rows each time it is computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import add
from typing import Self

from pgstream.algebra.expressions import Expression, refs
from pgstream.algebra.operators.first_rows import first_delta
from pgstream.algebra.operators.key_filter import through_kept
from pgstream.algebra.operators.key_local import local_delta
from pgstream.algebra.operators.node import (
    Calculus,
    Column,
    ColumnsOf,
    IsEmpty,
    Keys,
    Node,
    Origin,
    Refusal,
    Restrict,
    names_at,
)
from pgstream.algebra.operators.order import Order
from pgstream.algebra.types import Type


@dataclass(frozen=True, slots=True)
class Frame:
    """`kind BETWEEN start AND end [EXCLUDE …]`, as PostgreSQL writes it."""

    kind: str
    start: str
    end: str
    exclude: str = ""

    def __str__(self) -> str:
        excluded = f" EXCLUDE {self.exclude}" if self.exclude else ""
        return f"{self.kind} BETWEEN {self.start} AND {self.end}{excluded}"


WHOLE = ("UNBOUNDED PRECEDING", "UNBOUNDED FOLLOWING")
DEFAULT_FRAME = Frame("RANGE", "UNBOUNDED PRECEDING", "CURRENT ROW")
STAR = ("*",)
"""The notation of f(*)."""


@dataclass(frozen=True, slots=True)
class WindowCall:
    """`function(arguments) FILTER (WHERE condition) OVER (PARTITION BY … ORDER BY … frame)`."""

    function: str
    arguments: tuple[Expression, ...]
    """Columns and constants; for PostgreSQL also casts of columns."""
    condition: int | None
    order: tuple[Order, ...]
    frame: Frame
    type: Type
    notation: tuple[str, ...] = ()
    """What stands before each argument, if anything does: `n => ` or `VARIADIC `; or a star."""

    def written(self, arguments: Sequence[str]) -> str:
        """The call without its OVER clause, in PostgreSQL's SQL."""
        marks = self.notation or ("",) * len(arguments)
        listed = ", ".join(map(add, marks, arguments))
        return f"{self.function}({'*' if self.notation == STAR else listed})"


@dataclass(frozen=True, eq=False)
class Window(Node):
    input: Node
    keys: tuple[int, ...]
    calls: tuple[WindowCall, ...]
    first: int | None = None
    """Above, only rows that have at most this number or rank are wanted."""

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns + tuple(Column(c.function, c.type) for c in self.calls)

    def describe(self) -> str:
        listed = ", ".join(f"{c.function} ({c.frame})" for c in self.calls)
        first = "" if self.first is None else f", the first {self.first}"
        return f"Window {listed} by ({names_at(self.keys, self.input.columns)}){first}"

    def delta(self, change: Calculus) -> Node | None:
        if self.first is not None and change.delta(self.input) is not None:
            order = self.calls[0].order
            made = first_delta(self, self.keys, order, self.first, change)
            if made is not None:
                return made
        return local_delta(self, self.keys, change)

    def restrict(self, indexes: tuple[int, ...], keys: Keys, down: Restrict) -> Node | None:
        """By partition: other keys would take away rows that the functions see."""
        kept = [i if i in self.keys else None for i in range(len(self.columns))]
        return through_kept(self, kept, indexes, keys, down)

    def origins_of(self, index: int) -> tuple[Origin, ...]:
        return (Origin(0, index),) if index < len(self.input.columns) else ()

    @property
    def needs_positive(self) -> tuple[bool, ...]:
        return (True,)

    @property
    def read_again(self) -> tuple[ColumnsOf, ...]:
        return ((self.input, self.keys),)

    def nonlinear_in(self, input: Node) -> str | None:
        return "a window function"

    def gives_nothing(self, is_empty: IsEmpty) -> bool:
        return is_empty(self.input)

    # --- who evaluates what -------------------------------------------------------------------

    @property
    def held_expressions(self) -> tuple[Expression, ...]:
        return tuple(argument for call in self.calls for argument in call.arguments)

    def with_expressions(self, *expressions: Expression) -> Self:
        remaining = iter(expressions)
        calls = [
            replace(call, arguments=tuple(next(remaining) for _ in call.arguments))
            for call in self.calls
        ]
        return replace(self, calls=tuple(calls))

    def legalized(self, refusal: Refusal) -> Node:
        """Lowering gives it only calls that Spark computes as PostgreSQL does."""
        return self

    @property
    def reads(self) -> Iterator[Origin]:
        yield from (Origin(0, key) for key in self.keys)
        for call in self.calls:
            yield from (Origin(0, order.index) for order in call.order)
            yield from (Origin(0, i) for argument in call.arguments for i in refs(argument))
