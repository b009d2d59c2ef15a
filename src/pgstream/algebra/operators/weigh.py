"""Weigh: every row as often as an integer expression over it says.

    w' = w · count(row)

Linear, so Δ Weigh(A) = Weigh(Δ A). INTERSECT ALL and EXCEPT ALL end in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgstream.algebra.expressions import Expression
from pgstream.algebra.operators.node import Column, Node

if TYPE_CHECKING:
    from pgstream.algebra.differentiate import Differential


@dataclass(frozen=True, eq=False)
class Weigh(Node):
    input: Node
    count: Expression

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns


def delta(node: Weigh, change: Differential) -> Node | None:
    inner = change.delta(node.input)
    return inner and Weigh(inner, node.count)
