"""Negate: every weight with the other sign. Consolidate: equal rows once, zeros dropped.

Both occur in delta trees only, so they have no delta rule of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgstream.algebra.operators.node import Column, Node
from pgstream.algebra.operators.scan import Change


@dataclass(frozen=True, eq=False)
class Negate(Node):
    input: Node

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns


@dataclass(frozen=True, eq=False)
class Consolidate(Node):
    input: Node

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns

    @property
    def output_is_positive(self) -> bool:
        return True


def negate(node: Node | None) -> Node | None:
    return node and Negate(node)


def settled(node: Node) -> Node:
    """The state as rows that exist: consolidated if weights of both signs may meet in it."""
    return Consolidate(node) if is_signed(node) else node


def is_signed(node: Node) -> bool:
    if isinstance(node, Change | Negate):
        return True
    return not node.output_is_positive and any(map(is_signed, node.inputs))


def seen_by(operator: Node, state: Node) -> Node:
    """The state, as the operator must see it."""
    return settled(state) if operator.needs_positive_input else state
