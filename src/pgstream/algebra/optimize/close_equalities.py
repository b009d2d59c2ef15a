"""close_equalities: a join without an equality gets one that what is above or below it implies.

    (A × C) ⋉ B on a = b ∧ c = b     =   (A ⋈ C on a = c) ⋉ B on a = b ∧ c = b
    σ(a = v)(A) × σ(c = v)(C)        =   σ(a = v)(A) ⋈ σ(c = v)(C) on a = c

A pair of rows that differ is dropped above, so it need not be made. Going down the tree, `equal`
are sets of columns that must be equal and not NULL in every row that is wanted. The columns have
one type: what equals the same value is equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from pgstream.algebra.expressions import Call, Expression, Ref, conjuncts
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Join, Pairing
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.semi_join import SemiJoin
from pgstream.algebra.operators.weigh import Weigh
from pgstream.algebra.optimize.keys import is_one_row
from pgstream.algebra.optimize.propagate_constants import constants
from pgstream.algebra.placement.spark_list import spark_refusal
from pgstream.algebra.types import BOOLEAN

Columns = frozenset[int]
Equal = frozenset[Columns]
NOTHING: Equal = frozenset()


def close_equalities(tree: Node) -> Node:
    return _Closing().of(tree, NOTHING)


class _Closing:
    """Each part of the tree is rewritten once for what must be equal in it."""

    def __init__(self) -> None:
        self._done: dict[tuple[Node, Equal], Node] = {}

    def of(self, node: Node, equal: Equal) -> Node:
        if (node, equal) not in self._done:
            self._done[node, equal] = self._made(node, equal)
        return self._done[node, equal]

    def _made(self, node: Node, equal: Equal) -> Node:
        match node:
            case Filter(inner, predicate):
                return node.with_inputs(self.of(inner, merged([*equal, *compared(predicate)])))
            case Weigh(inner):
                return node.with_inputs(self.of(inner, equal))
            case Project(inner, expressions):
                below = (frozenset(_columns(expressions, each)) for each in equal)
                return node.with_inputs(self.of(inner, merged(below)))
            case Join():
                known = merged([*equal, *_pairs(node)])
                return self._sides(_with_key(node, known), known, known)
            case SemiJoin(anti=anti):
                known = merged([*equal, *_pairs(node)])
                return self._sides(node, equal if anti else known, known)
            case OuterJoin(keeps_right=False):
                return self._sides(node, equal, merged(_pairs(node)))
        inputs = [self.of(each, NOTHING) for each in node.inputs]
        return node.with_inputs(*inputs) if inputs else node

    def _sides(self, node: Pairing, of_left: Equal, of_right: Equal) -> Node:
        width = len(node.left.columns)
        left = merged(frozenset(i for i in each if i < width) for each in of_left)
        right = merged(frozenset(i - width for i in each if i >= width) for each in of_right)
        return node.with_inputs(self.of(node.left, left), self.of(node.right, right))


def _with_key(node: Join, equal: Equal) -> Join:
    """The join with what must be equal of both sides as its key, if it has none."""
    if node.on or any(map(is_one_row, node.inputs)):
        return node
    width, columns = len(node.left.columns), node.columns
    sets = [*equal, *_same_constants(node)]
    pairs = {
        (a, b - width)
        for each in sets
        for a in sorted(i for i in each if i < width)[:1]
        for b in sorted(i for i in each if i >= width)[:1]
        if columns[a].type == columns[b].type
    }
    return replace(node, on=tuple(sorted(pairs))) if pairs else node


def _same_constants(node: Join) -> Iterator[Columns]:
    """Columns that are the same constant, and are compared in one way."""
    found: dict[object, set[int]] = {}
    for column, value in constants(node).items():
        found.setdefault((value, node.columns[column].type), set()).add(column)
    for columns in found.values():
        first = min(columns)
        type_ = node.columns[first].type
        if spark_refusal(Call("=", (Ref(first, type_), Ref(first, type_)), BOOLEAN)) is None:
            yield frozenset(columns)


def _pairs(node: Pairing) -> Iterator[Columns]:
    """The columns that are equal in each pair of partners; NULLs that match are not compared."""
    width = len(node.left.columns)
    if node.nulls_match:
        return
    for a, b in node.on:
        if node.left.columns[a].type == node.right.columns[b].type:
            yield frozenset((a, width + b))
    yield from _shown_twice(node.left, node.left_keys, 0)
    yield from _shown_twice(node.right, node.right_keys, width)


def _shown_twice(node: Node, columns: Iterable[int], first: int) -> Iterator[Columns]:
    """Those of the columns that are one column of what is below."""
    found: dict[tuple[Node, int], set[int]] = {}
    for column in columns:
        found.setdefault(_source(node, column), set()).add(first + column)
    yield from map(frozenset, found.values())


def _source(node: Node, column: int) -> tuple[Node, int]:
    """Which column it is, unchanged, of the lowest relation that has it."""
    while len(node.inputs) == 1 and node.origins_of(column):
        ((_, column),) = node.origins_of(column)
        (node,) = node.inputs
    return node, column


def compared(condition: Expression) -> Iterator[Columns]:
    """Columns of one type that the condition requires to be equal."""
    for part in conjuncts(condition):
        if isinstance(part, Call) and part.function == "=" and spark_refusal(part) is None:
            first, second = part.arguments
            if isinstance(first, Ref) and isinstance(second, Ref) and first.type == second.type:
                yield frozenset((first.index, second.index))


def _columns(expressions: tuple[Expression, ...], wanted: Columns) -> Iterator[int]:
    for index in wanted:
        expression = expressions[index]
        if isinstance(expression, Ref):
            yield expression.index


def merged(sets: Iterable[Columns]) -> Equal:
    """Sets that share a column are one; a column alone says nothing."""
    done: list[Columns] = []
    for each in sets:
        apart = [other for other in done if not other & each]
        together = each.union(*(other for other in done if other & each))
        done = [*apart, together]
    return frozenset(each for each in done if len(each) > 1)
