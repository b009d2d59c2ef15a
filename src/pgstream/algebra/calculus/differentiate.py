"""differentiate: from an operator tree to the tree of its change.

    apply(Q(before), Δ Q) = Q(after)

A pure function. It knows neither Spark nor PostgreSQL, nor any operator: each has its own rule. A
source whose change is empty prunes every term that depends on it.
"""

from __future__ import annotations

from collections.abc import Mapping

from pgstream.algebra.calculus.restrict import restrict
from pgstream.algebra.operators.negate import Consolidate, over
from pgstream.algebra.operators.node import Keys, Node
from pgstream.algebra.operators.scan import Part, Scan

Changed = Mapping[int, frozenset[Part]]


class Differential:
    """The change of one tree, given which parts of which sources have changed."""

    def __init__(self, changed: Changed) -> None:
        self.changed = changed

    def delta(self, node: Node) -> Node | None:
        return node.delta(self)

    def after(self, node: Node) -> Node:
        return self._state(node, after=True)

    def before(self, node: Node) -> Node:
        return self._state(node, after=False)

    def restrict(self, node: Node, indexes: tuple[int, ...], keys: Keys) -> Node:
        return restrict(node, indexes, keys)

    def has_changed(self, relid: int, part: str) -> bool:
        return part in self.changed.get(relid, ())

    def _state(self, node: Node, after: bool) -> Node:
        if not node.inputs:
            return node.state(self, after)
        return over(node, *(self._state(i, after) for i in node.inputs))


def differentiate(tree: Node, changed: Changed) -> Node | None:
    """The change of the tree's result, consolidated; None if nothing can change."""
    delta = Differential(changed).delta(tree)
    return delta and Consolidate(delta)


def sources(tree: Node) -> dict[int, Scan]:
    """The source tables of a query, by relid."""
    return {node.source.relid: node for node in tree.walk() if isinstance(node, Scan)}
