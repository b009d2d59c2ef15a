"""UnionAll: the sum of Z-sets.

Δ(A + B) = Δ A + Δ B
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgstream.algebra.operators.node import Column, Node

if TYPE_CHECKING:
    from pgstream.algebra.differentiate import Differential


@dataclass(frozen=True, eq=False)
class UnionAll(Node):
    terms: tuple[Node, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.terms[0].columns


def add(*terms: Node | None) -> Node | None:
    """The sum of the terms that exist; an absent term is the empty Z-set."""
    present = tuple(term for term in terms if term is not None)
    if len(present) < 2:
        return present[0] if present else None
    return UnionAll(present)


def delta(node: UnionAll, change: Differential) -> Node | None:
    return add(*(change.delta(term) for term in node.terms))
