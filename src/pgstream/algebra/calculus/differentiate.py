"""differentiate: from an operator tree to the tree of its change.

    apply(Q(before), Δ Q) = Q(after)

A pure function. It knows neither Spark nor PostgreSQL, nor any operator: each has its own rule. A
source whose change is empty prunes every term that depends on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from pgstream.algebra.calculus.restrict import restrict
from pgstream.algebra.calculus.shorter import shorter
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.negate import Consolidate, Negate, over
from pgstream.algebra.operators.node import Keys, Node
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.scan import Part, Scan
from pgstream.algebra.operators.union_all import UnionAll

Changed = Mapping[int, frozenset[Part]]
MOST_KEPT = 128
"""Trees of changes, of up to some hundred nodes each."""


class Differential:
    """The change of one tree, given which parts of which sources have changed."""

    def __init__(self, changed: Changed) -> None:
        self.changed = changed
        self._deltas: dict[Node, Node | None] = {}

    def delta(self, node: Node) -> Node | None:
        if node not in self._deltas:
            self._deltas[node] = shorter(node, node.delta(self), self)
        return self._deltas[node]

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


class TermByTerm(Differential):
    """Each change by itself: rows that stay are not among those that go and come."""

    def delta(self, node: Node) -> Node | None:
        return node.delta(self)


def differentiate(tree: Node, changed: Changed) -> Node | None:
    """The change of the tree's result, consolidated; None if nothing can change. Refresh after
    refresh the same sources change, so what was found last is kept."""
    return _differentiated(tree, frozenset(changed.items()))


@lru_cache(MOST_KEPT)
def _differentiated(tree: Node, changed: frozenset[tuple[int, frozenset[Part]]]) -> Node | None:
    delta = Differential(dict(changed)).delta(tree)
    return delta and Consolidate(unconsolidated(delta))


def unconsolidated(delta: Node) -> Node:
    """The change as a sum whose equal rows need not meet before its end, where they do."""
    if isinstance(delta, Consolidate) and not delta.positive:
        return unconsolidated(delta.input)
    if isinstance(delta, Filter | Negate | Project | UnionAll):
        return delta.with_inputs(*map(unconsolidated, delta.inputs))
    return delta


def sources(tree: Node) -> dict[int, Scan]:
    """The source tables of a query, by relid."""
    return {node.source.relid: node for node in tree.walk() if isinstance(node, Scan)}
