"""RowLocal: what operators have in common that treat each row of their input by itself.

Δ f(A) = f(Δ A)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pgstream.algebra.operators.node import (
    Calculus,
    Column,
    IsEmpty,
    Keys,
    Node,
    Origin,
    Restrict,
)


@dataclass(frozen=True, eq=False)
class RowLocal(Node):
    """Shows the columns of its input, and lets keys through."""

    input: Node

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns

    def delta(self, change: Calculus) -> Node | None:
        inner = change.delta(self.input)
        return inner and self.with_inputs(inner)

    def restrict(self, indexes: tuple[int, ...], keys: Keys, down: Restrict) -> Node | None:
        return self.with_inputs(down(self.input, indexes, keys))

    def origins_of(self, index: int) -> tuple[Origin, ...]:
        return (Origin(0, index),)

    @property
    def reads(self) -> Iterator[Origin]:
        yield from self.read_by_expressions

    def gives_nothing(self, is_empty: IsEmpty) -> bool:
        return is_empty(self.input)
