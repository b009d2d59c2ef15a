"""Negate: every weight with the other sign. Consolidate: equal rows once, zeros dropped.

Both occur in delta trees only, so they have no delta rule of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgstream.algebra.operators.node import Node, OfDeltaTrees
from pgstream.algebra.operators.row_local import RowLocal


@dataclass(frozen=True, eq=False)
class Negate(OfDeltaTrees, RowLocal):
    def describe(self) -> str:
        return "Negate"

    @property
    def is_signed(self) -> bool:
        return True

    @property
    def only_arranges(self) -> bool:
        return True


@dataclass(frozen=True, eq=False)
class Consolidate(OfDeltaTrees, RowLocal):
    positive: bool = False
    """Rows with a negative weight are dropped, too."""

    def describe(self) -> str:
        return "Consolidate, positive" if self.positive else "Consolidate"

    @property
    def output_is_positive(self) -> bool:
        """Over a state; a change it leaves signed, but nothing asks that of a change."""
        return True


def negate(node: Node | None) -> Node | None:
    return node and Negate(node)


def settled(node: Node) -> Node:
    """The state as rows that exist: consolidated if weights of both signs may meet in it."""
    return Consolidate(node) if node.is_signed else node


def over(operator: Node, *states: Node) -> Node:
    """The operator over states of its inputs, each as it must see it."""
    pairs = zip(states, operator.needs_positive, strict=True)
    return operator.with_inputs(*(settled(s) if positive else s for s, positive in pairs))
