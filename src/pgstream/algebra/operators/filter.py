"""Filter: the rows for which the predicate is true.

Δ σ(A) = σ(Δ A)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgstream.algebra.expressions import Expression
from pgstream.algebra.operators.node import Column, Node

if TYPE_CHECKING:
    from pgstream.algebra.differentiate import Differential


@dataclass(frozen=True, eq=False)
class Filter(Node):
    input: Node
    predicate: Expression

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns


def delta(node: Filter, change: Differential) -> Node | None:
    inner = change.delta(node.input)
    return inner and Filter(inner, node.predicate)
