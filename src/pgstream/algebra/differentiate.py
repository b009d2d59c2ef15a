"""differentiate: from an operator tree to the tree of its change.

    apply(Q(before), Δ Q) = Q(after)

A pure function. It knows neither Spark nor PostgreSQL. A source whose change is empty
prunes every term that hangs on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pgstream.algebra.operators import (
    aggregate,
    by_postgres,
    filter,
    join,
    outer_join,
    project,
    shared,
    union_all,
    weigh,
    window,
)
from pgstream.algebra.operators.keys import Keys
from pgstream.algebra.operators.negate import Consolidate, negate, seen_by
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.one_row import OneRow
from pgstream.algebra.operators.scan import Change, Part, Scan, Stored
from pgstream.algebra.operators.union_all import add
from pgstream.algebra.restrict import restrict

Changed = Mapping[int, frozenset[Part]]


class Differential:
    """The change of one tree, given which parts of which sources have changed."""

    def __init__(self, changed: Changed) -> None:
        self.changed = changed

    def delta(self, node: Node) -> Node | None:
        return RULES[type(node)](node, self)

    def after(self, node: Node) -> Node:
        return self._state(node, (), (Part.PENDING,))

    def before(self, node: Node) -> Node:
        return self._state(node, (Part.COMMITTED,), ())

    def restrict(self, node: Node, indexes: tuple[int, ...], keys: Keys) -> Node:
        return restrict(node, indexes, keys)

    def change_of(self, scan: Scan, part: Part) -> Node | None:
        return Change(scan, part) if part in self.changed.get(scan.source.relid, ()) else None

    def _state(self, node: Node, minus: tuple[Part, ...], plus: tuple[Part, ...]) -> Node:
        if isinstance(node, Scan):
            terms: list[Node | None] = [Stored(node)]
            terms += [negate(self.change_of(node, part)) for part in minus]
            terms += [self.change_of(node, part) for part in plus]
            state = add(*terms)
            assert state is not None
            return state
        inner = [self._state(child, minus, plus) for child in node.inputs]
        inner = [seen_by(node, tree) for tree in inner]
        return node.with_inputs(*inner) if inner else node


def _scan(node: Scan, change: Differential) -> Node | None:
    return add(*(change.change_of(node, part) for part in Part))


def _one_row(node: OneRow, change: Differential) -> Node | None:
    return None


RULES: dict[type[Node], Callable[[Any, Differential], Node | None]] = {
    Scan: _scan,
    OneRow: _one_row,
    filter.Filter: filter.delta,
    project.Project: project.delta,
    join.Join: join.delta,
    union_all.UnionAll: union_all.delta,
    aggregate.Aggregate: aggregate.delta,
    weigh.Weigh: weigh.delta,
    outer_join.OuterJoin: outer_join.delta,
    window.Window: window.delta,
    by_postgres.ByPostgres: by_postgres.delta,
    shared.Shared: shared.delta,
}


def differentiate(tree: Node, changed: Changed) -> Node | None:
    """The change of the tree's result, consolidated; None if nothing can change."""
    delta = Differential(changed).delta(tree)
    return delta and Consolidate(delta)


def sources(tree: Node) -> dict[int, Scan]:
    """The source tables of a query, by relid."""
    return {node.source.relid: node for node in tree.walk() if isinstance(node, Scan)}
