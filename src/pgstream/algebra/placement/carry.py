"""carry: a numeric that nothing on Spark reads travels as text.

    SELECT t.id, t.x FROM t JOIN u ON u.id = t.id        x is text, from the scan to the result

Text holds NaN, infinity and any number of digits, and keeps trailing zeros. A column is read by
what computes or compares: expressions, sums, orders, keys. It flows on where it is taken over as
it is. Columns between which values flow are one stream, and travel in one form: a decimal if one
of them is read, or is computed on Spark.

Runs last, over trees in which every expression stands where it is computed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from pgstream.algebra.operators.node import Node
from pgstream.algebra.types import Type

ColumnOf = tuple[Node, int]
"""A column of a node."""


def carry(tree: Node, decimals: Iterable[Node] = ()) -> Node:
    """The same tree with numerics as text where nothing reads them; `decimals` are scans that
    stay as they are."""
    streams = Streams()
    for node in tree.walk():
        streams.add(node)
    for node in decimals:
        streams.read(*((node, i) for i in range(len(node.columns))))
    return Carrying(streams).rewritten(tree)


class Streams:
    """Which columns hold the same values, and which of them are read."""

    def __init__(self) -> None:
        self._next: dict[ColumnOf, ColumnOf] = {}
        self._read: set[ColumnOf] = set()

    def of(self, column: ColumnOf) -> ColumnOf:
        while column in self._next:
            column = self._next[column]
        return column

    def join(self, one: ColumnOf, other: ColumnOf) -> None:
        first, second = self.of(one), self.of(other)
        if first != second:
            self._next[first] = second
            if first in self._read:
                self._read.add(second)

    def read(self, *columns: ColumnOf) -> None:
        self._read.update(map(self.of, columns))

    def is_read(self, column: ColumnOf) -> bool:
        return self.of(column) in self._read

    def add(self, node: Node) -> None:
        """What flows through the node, and what it reads and computes."""
        inputs = node.inputs
        for i in range(len(node.columns)):
            for origin in node.flows(i):
                self.join((node, i), (inputs[origin.input], origin.column))
            if node.computes(i):
                self.read((node, i))
        self.read(*((inputs[origin.input], origin.column) for origin in node.reads))


class Carrying:
    """Rewrites a tree so that its columns travel in the form that suits them."""

    def __init__(self, streams: Streams) -> None:
        self.streams = streams
        self._done: dict[Node, Node] = {}

    def rewritten(self, node: Node) -> Node:
        if node not in self._done:
            inputs = [self.rewritten(each) for each in node.inputs]
            made = node.with_inputs(*inputs) if inputs else node
            self._done[node] = made.retyped(partial(self.type_at, node))
        return self._done[node]

    def type_at(self, node: Node, index: int, type_: Type) -> Type:
        if not type_.is_numeric or self.streams.is_read((node, index)):
            return type_
        return replace(type_, as_text=True)
