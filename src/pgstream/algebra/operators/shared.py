"""Shared: a relation that is read in several places and computed once, such as a CTE.

Δ Shared(A) = Shared(Δ A)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgstream.algebra.operators.node import Column, Node

if TYPE_CHECKING:
    from pgstream.algebra.differentiate import Differential


@dataclass(frozen=True, eq=False)
class Shared(Node):
    input: Node
    name: str

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns


def delta(node: Shared, change: Differential) -> Node | None:
    inner = change.delta(node.input)
    return inner and Shared(inner, node.name)
