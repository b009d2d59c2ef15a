"""connect_joins: inner joins in an order in which each has an equality, if there is one.

    (A × B) ⋈ C on a = c ∧ b = c'   =   (A ⋈ C on a = c) ⋈ B on b = c'

FROM a, b, c says nothing of an order. A join without an equality reads its partner whole, so it
comes as late as it can. Joins that have their equalities, and those with a single row, stay in the
order in which they are written.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeGuard

from pgstream.algebra.expressions import (
    Expression,
    Ref,
    conjunction,
    conjuncts,
    refs,
    shift,
    transform,
)
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.project import pick
from pgstream.algebra.optimize.keys import is_one_row

Pair = tuple[int, int]
"""Two columns that must be equal, by their indexes among all columns of a region."""


@dataclass(frozen=True)
class Region:
    """Relations that are joined with one another, side by side; their order is open."""

    parts: tuple[Node, ...] = ()
    pairs: tuple[Pair, ...] = ()
    conditions: tuple[Expression, ...] = ()

    @property
    def width(self) -> int:
        return sum(len(part.columns) for part in self.parts)

    def columns_of(self, number: int) -> range:
        start = sum(len(part.columns) for part in self.parts[:number])
        return range(start, start + len(self.parts[number].columns))

    def connects(self, number: int, placed: set[int]) -> bool:
        """Whether an equality leads from the columns that are placed to the part."""
        own = self.columns_of(number)
        return any((a in own and b in placed) or (b in own and a in placed) for a, b in self.pairs)


def connect_joins(tree: Node) -> Node:
    """Goes down from the top, so that a region is as large as it can be."""
    done: dict[Node, Node] = {}

    def visit(node: Node) -> Node:
        if node not in done:
            region = _region(node)
            if _has_needless_cross(node, region):
                parts = tuple(map(visit, region.parts))
                done[node] = _joined(replace(region, parts=parts), _order(region))
            else:
                inputs = tuple(map(visit, node.inputs))
                done[node] = node if inputs == node.inputs else node.with_inputs(*inputs)
        return done[node]

    return visit(tree)


def _has_needless_cross(node: Node, region: Region) -> bool:
    """Whether another order has an equality for a join that has none."""
    return _crosses(node) and _order(region) != list(range(len(region.parts)))


def _crosses(node: Node) -> bool:
    if not _is_open(node):
        return False
    here = not node.on and not any(map(is_one_row, node.inputs))
    return here or any(map(_crosses, node.inputs))


def _is_open(node: Node) -> TypeGuard[Join]:
    """Whether the join may be done in another order; pairs of which NULLs match stay together."""
    return isinstance(node, Join) and not node.nulls_match


def _region(node: Node) -> Region:
    if not _is_open(node):
        return Region((node,))
    left, right = _region(node.left), _region(node.right)
    width = left.width
    own = [(a, width + b) for a, b in node.on]
    theirs = [(width + a, width + b) for a, b in right.pairs]
    conditions = [shift(part, width) for part in right.conditions]
    conditions += conjuncts(node.condition) if node.condition is not None else ()
    return Region(
        left.parts + right.parts,
        (*left.pairs, *theirs, *own),
        (*left.conditions, *conditions),
    )


def _order(region: Region) -> list[int]:
    """The parts as they are written, but each after one with which it has an equality."""
    waiting = list(range(len(region.parts)))
    order = [waiting.pop(0)]
    placed = set(region.columns_of(order[0]))
    while waiting:
        chosen = next((i for i in waiting if _follows(region, i, placed)), waiting[0])
        waiting.remove(chosen)
        order.append(chosen)
        placed.update(region.columns_of(chosen))
    return order


def _follows(region: Region, number: int, placed: set[int]) -> bool:
    return region.connects(number, placed) or is_one_row(region.parts[number])


def _joined(region: Region, order: list[int]) -> Node:
    """The parts joined in this order, with the columns back in theirs."""
    tree = region.parts[order[0]]
    places = {column: i for i, column in enumerate(region.columns_of(order[0]))}
    pairs, conditions = list(region.pairs), list(region.conditions)
    for number in order[1:]:
        width, part = len(tree.columns), region.parts[number]
        own = {column: i for i, column in enumerate(region.columns_of(number))}
        on = [(places[a], own[b]) for a, b in pairs if a in places and b in own]
        on += [(places[b], own[a]) for a, b in pairs if b in places and a in own]
        places |= {column: width + i for column, i in own.items()}
        pairs = [pair for pair in pairs if not places.keys() >= set(pair)]
        known = [part for part in conditions if refs(part) <= places.keys()]
        conditions = [part for part in conditions if part not in known]
        moved = [_moved(part, places) for part in known]
        tree = Join(tree, part, tuple(on), conjunction(moved))
    return pick(tree, tuple(places[column] for column in range(region.width)))


def _moved(condition: Expression, places: dict[int, int]) -> Expression:
    return transform(condition, lambda ref: Ref(places[ref.index], ref.type))
