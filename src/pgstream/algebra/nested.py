"""Nested state: aggregates and DISTINCT below other operators, each stored in a hidden table.

    … γ(A) …   →   … Scan(hidden) …,   hidden = the accumulators of γ(A), by key

A hidden table is maintained before what reads it. To those it is like a stream table that the
same cycle refreshes: stored is what was there before, its pending change is what this refresh
computes. If that is empty, nothing above is computed. Equal aggregates share one table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from pgstream.algebra.calculus.recursion import STATE_SCHEMA
from pgstream.algebra.groups import Groups
from pgstream.algebra.operators.accumulate import finish_sql
from pgstream.algebra.operators.aggregate import Aggregate, AggregateCall
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.project import Project, pick
from pgstream.algebra.operators.scan import Field, Scan, Source
from pgstream.algebra.operators.semi_join import SemiJoin
from pgstream.algebra.operators.shared import Shared


@dataclass(frozen=True)
class Hidden(Groups):
    source: Source
    """Where the accumulators are stored; the relid is made up and negative."""

    @property
    def scan(self) -> Scan:
        """The groups as those read them who stand above."""
        keys = [Field(column.name, column.type) for column in self.key_columns]
        return Scan(self.source, (*keys, *map(self._finished, self.aggregate.calls)))

    def _finished(self, call: AggregateCall) -> Field:
        text = finish_sql(call, self.aggregate)
        column = text.strip('"')
        if text == f'"{column}"':
            return Field(column, call.type)
        return Field(call.function, call.type, text)


@dataclass
class Nesting:
    """Rewrites a query's tree; `hidden` are those found so far, those first that others read."""

    id: int
    first: int
    kept: Node | None
    """The aggregate that the stream table itself stores."""
    hidden: list[Hidden] = field(default_factory=list)
    _done: dict[Node, Node] = field(default_factory=dict)

    def rewritten(self, node: Node) -> Node:
        if node not in self._done:
            inputs = [self.rewritten(each) for each in node.inputs]
            made = node.with_inputs(*inputs) if inputs else node
            if isinstance(made, SemiJoin) and needs_keys(made):
                made = self._by_keys(made)
            stores = node is not self.kept and is_storable(made)
            self._done[node] = self._stored(made) if stores else without_share(made)
        return self._done[node]

    def _by_keys(self, node: SemiJoin) -> SemiJoin:
        """The right side as its distinct keys: of these only what comes or goes is a change."""
        every = tuple(range(len(node.on)))
        keys = self._stored(Aggregate(pick(node.right, node.right_keys), every, ()))
        return replace(node, right=keys, on=tuple(zip(node.left_keys, every, strict=True)))

    def _stored(self, node: Node) -> Scan:
        assert isinstance(node, Aggregate)
        number = len(self.hidden)
        name = f"hidden_{self.id}_{number}"
        source = Source(-self.first - number, STATE_SCHEMA, name, is_stream=False)
        found = next((h for h in self.hidden if h.aggregate is node), Hidden(node, source))
        if found not in self.hidden:
            self.hidden.append(found)
        return found.scan


def is_storable(node: Node) -> bool:
    """Whether accumulators tell all that it gives. The value of a subquery's only row has none. Of
    equal extremes of a numeric without a declared scale, the stored one has its own zeros, and
    what stands above may show them."""
    if not isinstance(node, Aggregate):
        return False
    types = [column.type for column in node.input.columns]
    return not any(
        call.function == "single"
        or (
            call.function in ("min", "max")
            and call.argument is not None
            and types[call.argument].is_numeric
            and types[call.argument].digits is None
        )
        for call in node.calls
    )


def needs_keys(node: SemiJoin) -> bool:
    """Whether the right side may change where no key comes or goes: it is more than a table, or
    what is stored of one."""
    right = node.right
    while isinstance(right, Project | Shared):
        right = right.inputs[0]
    return bool(node.on) and node.condition is None and not isinstance(right, Scan)


def without_share(node: Node) -> Node:
    """What only picks rows and columns of a hidden table need not be computed apart."""
    return node.input if isinstance(node, Shared) and _picks_hidden(node.input) else node


def _picks_hidden(node: Node) -> bool:
    while isinstance(node, Project | Filter):
        node = node.input
    return isinstance(node, Scan) and node.source.schema == STATE_SCHEMA


def scans_of(trees: Iterator[Node] | tuple[Node, ...], hidden: Hidden) -> list[Scan]:
    """How trees read a hidden table: fields may be computed from it, or travel as text."""
    nodes = (node for tree in trees for node in tree.walk())
    found = (node for node in nodes if isinstance(node, Scan))
    return list(dict.fromkeys(scan for scan in found if scan.source == hidden.source))
