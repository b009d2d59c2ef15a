"""Window: the rows with one more column per window function.

Key-local on PARTITION BY:

    Δ W(A) = W(A after ⋉ K) − W(A before ⋉ K),  K = keys(Δ A)

Functions over different partitions are Windows one above the other. Rows that are equal in
the order of a function which counts rows are told apart by all their columns, so that a
partition gives the same rows each time it is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import add
from typing import TYPE_CHECKING

from pgstream.algebra.expressions import Expression
from pgstream.algebra.operators.keys import local_delta
from pgstream.algebra.operators.node import Column, Node
from pgstream.algebra.types import Type

if TYPE_CHECKING:
    from pgstream.algebra.differentiate import Differential


@dataclass(frozen=True, slots=True)
class Order:
    """ORDER BY the column at `index`."""

    index: int
    descending: bool = False
    nulls_first: bool = False

    def written(self, column: str) -> str:
        """In SQL, PostgreSQL's and Spark's alike."""
        direction = "DESC" if self.descending else "ASC"
        return f"{column} {direction} NULLS {'FIRST' if self.nulls_first else 'LAST'}"


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
    """What stands before each argument, if anything does: `n => ` or `VARIADIC `."""

    def written(self, arguments: Sequence[str]) -> str:
        """The call without its OVER clause, in PostgreSQL's SQL."""
        marks = self.notation or ("",) * len(arguments)
        listed = ", ".join(map(add, marks, arguments))
        is_star = self.function == "count" and not arguments
        return f"{self.function}({'*' if is_star else listed})"


@dataclass(frozen=True, eq=False)
class Window(Node):
    input: Node
    keys: tuple[int, ...]
    calls: tuple[WindowCall, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns + tuple(Column(c.function, c.type) for c in self.calls)

    @property
    def needs_positive_input(self) -> bool:
        return True


def delta(node: Window, change: Differential) -> Node | None:
    return local_delta(node, node.input, node.keys, change)
