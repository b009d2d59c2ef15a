"""Project: one expression per output column; duplicates stay.

Δ π(A) = π(Δ A)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgstream.algebra.expressions import Expression, Ref
from pgstream.algebra.operators.node import Column, Node

if TYPE_CHECKING:
    from pgstream.algebra.differentiate import Differential


@dataclass(frozen=True, eq=False)
class Project(Node):
    input: Node
    expressions: tuple[Expression, ...]
    names: tuple[str, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        pairs = zip(self.names, self.expressions, strict=True)
        return tuple(Column(name, expression.type) for name, expression in pairs)


def pick(node: Node, indexes: tuple[int, ...]) -> Project:
    """The columns at these places, in this order."""
    columns = node.columns
    return Project(
        node,
        tuple(Ref(i, columns[i].type) for i in indexes),
        tuple(columns[i].name for i in indexes),
    )


def delta(node: Project, change: Differential) -> Node | None:
    inner = change.delta(node.input)
    return inner and Project(inner, node.expressions, node.names)
