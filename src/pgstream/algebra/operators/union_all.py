"""UnionAll: the sum of Z-sets.

Δ(A + B) = Δ A + Δ B
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pgstream.algebra.operators.node import (
    Calculus,
    Column,
    ColumnsOf,
    Expects,
    IsEmpty,
    Keys,
    Node,
    Origin,
    Restrict,
)


@dataclass(frozen=True, eq=False)
class UnionAll(Node):
    terms: tuple[Node, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.terms[0].columns

    def describe(self) -> str:
        return "UnionAll"

    def delta(self, change: Calculus) -> Node | None:
        return add(*(change.delta(term) for term in self.terms))

    def restrict(self, indexes: tuple[int, ...], keys: Keys, down: Restrict) -> Node | None:
        return UnionAll(tuple(down(term, indexes, keys) for term in self.terms))

    def origins_of(self, index: int) -> tuple[Origin, ...]:
        return tuple(Origin(number, index) for number in range(len(self.terms)))

    def shown_by(self, indexes: tuple[int, ...]) -> list[ColumnsOf] | None:
        return [(term, indexes) for term in self.terms]

    @property
    def only_arranges(self) -> bool:
        return True

    def nonlinear_in(self, input: Node) -> str | None:
        """The other terms would be added again in each round."""
        return "a UNION"

    def gives_nothing(self, is_empty: IsEmpty) -> bool:
        return all(map(is_empty, self.terms))

    def expected_rows(self, expect: Expects) -> float:
        return sum(map(expect.rows, self.terms))

    def needed(self, is_empty: IsEmpty) -> tuple[Node, ...]:
        return tuple(term for term in self.terms if not is_empty(term)) or self.terms[:1]

    @property
    def reads(self) -> Iterator[Origin]:
        yield from ()


def add(*terms: Node | None) -> Node | None:
    """The sum of the terms that exist; an absent term is the empty Z-set."""
    present = tuple(term for term in terms if term is not None)
    if len(present) < 2:
        return present[0] if present else None
    return UnionAll(present)


def in_each_term(tree: Node, change: Callable[[Node], Node]) -> Node:
    """The tree changed; of a sum, each of its terms."""
    return UnionAll(tuple(map(change, tree.terms))) if isinstance(tree, UnionAll) else change(tree)
