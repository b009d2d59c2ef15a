"""join_graph: the relations that inner joins join, and how their equalities lead from one to
another.

Filters and projections between the joins change nothing of that: all of them together are linear
in each of the relations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.project import Project


class Step(NamedTuple):
    """From rows of one relation to their partners in another, by number."""

    source: int
    target: int
    by: tuple[int, ...]
    """The columns of the source."""
    to: tuple[int, ...]
    """The columns of the target that equal them."""
    nulls: bool

    @property
    def back(self) -> Step:
        return Step(self.target, self.source, self.to, self.by, self.nulls)


class Place(NamedTuple):
    """A column of one of the relations."""

    input: int
    column: int


def is_inner(node: Node) -> bool:
    """Whether it stands between the relations."""
    return isinstance(node, Join | Filter | Project)


def joined_relations(node: Node) -> list[Node]:
    """From left to right. A relation that is read twice is there twice."""
    if not is_inner(node):
        return [node]
    return [each for part in node.inputs for each in joined_relations(part)]


def joined_again(node: Node, relations: Iterator[Node]) -> Node:
    """The same joins, filters and projections over other relations."""
    if not is_inner(node):
        return next(relations)
    return node.with_inputs(*[joined_again(part, relations) for part in node.inputs])


@dataclass(frozen=True)
class Way:
    """Steps that lead from one relation to all others, and how many rows they are expected to
    find for a row of the first."""

    steps: tuple[Step, ...]
    partners: float


def shortest_way(node: Node) -> Way | None:
    """Of the ways from each of the relations the one that finds the fewest rows; None if the
    equalities do not lead to all of them."""
    relations, steps = joined_relations(node), list(steps_of(node))
    ways = (_way_from(start, relations, steps) for start in range(len(relations)))
    return min((way for way in ways if way), key=lambda way: way.partners, default=None)


def _way_from(start: int, relations: Sequence[Node], steps: Sequence[Step]) -> Way | None:
    """Always on to the relation in which a row has the fewest partners."""
    reached, taken, partners = {start}, list[Step](), 1.0

    def found(step: Step) -> float:
        leads_on = step.source in reached and step.target not in reached
        return relations[step.target].rows_per_key(step.to) if leads_on else inf

    while len(reached) < len(relations):
        best = min(steps, key=found, default=None)
        if best is None or found(best) == inf:
            return None
        partners *= found(best)
        taken.append(best)
        reached.add(best.target)
    return Way(tuple(taken), partners)


def steps_of(node: Node) -> Iterator[Step]:
    """In both directions. Equalities of the same two relations are one step."""
    found: dict[tuple[int, int, bool], list[tuple[int, int]]] = {}
    for left, right, nulls in _equalities(node, 0):
        found.setdefault((left.input, right.input, nulls), []).append((left.column, right.column))
    for (source, target, nulls), pairs in found.items():
        by, to = tuple(a for a, _ in pairs), tuple(b for _, b in pairs)
        step = Step(source, target, by, to, nulls)
        yield from (step, step.back)


def _equalities(node: Node, first: int) -> Iterator[tuple[Place, Place, bool]]:
    """Between columns of the relations; `first` is the number of the first one below the node."""
    if not is_inner(node):
        return
    if isinstance(node, Join):
        second = first + len(joined_relations(node.left))
        for left, right in node.on:
            sides = _place(node.left, left, first), _place(node.right, right, second)
            if sides[0] is not None and sides[1] is not None:
                yield sides[0], sides[1], node.nulls_match
    for part in node.inputs:
        yield from _equalities(part, first)
        first += len(joined_relations(part))


def _place(node: Node, column: int, first: int) -> Place | None:
    """Which column of which relation it is; None if it is computed on the way."""
    if not is_inner(node):
        return Place(first, column)
    for origin in node.origins_of(column):
        before = sum(len(joined_relations(part)) for part in node.inputs[: origin.input])
        return _place(node.inputs[origin.input], origin.column, first + before)
    return None
