"""Join: inner and cross join. Weights multiply.

Δ(A ⋈ B) = Δ A ⋈ B after + A before ⋈ Δ B

Exact when both sides change, also in a self-join. The unchanged side is read by the keys
of the changed one. `on` pairs the equality columns; `condition` is the rest of the join
condition, over the columns of both sides. NULLs match only where `nulls_match`: a subquery is
joined to the rows around it by the values that it was computed for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import NamedTuple

from pgstream.algebra.expressions import (
    Call,
    Expression,
    conjunction,
    conjuncts,
    plain_column,
    refs,
    shift,
)
from pgstream.algebra.operators.filter import filtered
from pgstream.algebra.operators.key_filter import key_filtered
from pgstream.algebra.operators.node import (
    MANY,
    Calculus,
    Column,
    Expects,
    IsEmpty,
    Keys,
    Node,
    Origin,
    PushDown,
    Refusal,
    Restrict,
    in_words,
)
from pgstream.algebra.operators.union_all import add


class PerKey(NamedTuple):
    """The rows of one side for a key, and the partners of each on the other."""

    found: float
    partners: float

    @property
    def given(self) -> float:
        return self.found * self.partners

    @property
    def read(self) -> float:
        """Those of both sides: few of the first lead to few of the other."""
        return self.found * (1.0 + self.partners)


@dataclass(frozen=True, eq=False)
class Pairing(Node):
    """What all joins have: two sides, key pairs, and the rest of the condition."""

    left: Node
    right: Node
    on: tuple[tuple[int, int], ...] = ()
    condition: Expression | None = None
    nulls_match: bool = False

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.left.columns + self.right.columns

    @property
    def only_tests(self) -> bool:
        """Whether it shows nothing of its right side but that there is a partner."""
        return False

    @property
    def is_linear_left(self) -> bool:
        """Whether it treats each row of its left side by itself, and its right side by keys."""
        return False

    @property
    def keeps_left(self) -> bool:
        """Whether it shows rows of its left side that have no partner."""
        return False

    @property
    def left_keys(self) -> tuple[int, ...]:
        return tuple(left for left, _ in self.on)

    @property
    def right_keys(self) -> tuple[int, ...]:
        return tuple(right for _, right in self.on)

    def words(self, kind: str) -> str:
        left, right = self.left.columns, self.right.columns
        equals = "IS NOT DISTINCT FROM" if self.nulls_match else "="
        pairs = [f"{left[a].name} {equals} {right[b].name}" for a, b in self.on]
        if self.condition is not None:
            pairs.append(in_words(self.condition, left + right))
        return f"{kind} on {' AND '.join(pairs)}" if pairs else f"{kind} (no equality)"

    def flows(self, index: int) -> tuple[Origin, ...]:
        return (self.beside(index),)

    def computes(self, index: int) -> bool:
        return False

    @property
    def reads(self) -> Iterator[Origin]:
        yield from (Origin(0, key) for key in self.left_keys)
        yield from (Origin(1, key) for key in self.right_keys)
        yield from self.read_by_expressions

    def rows_per_key(self, indexes: tuple[int, ...]) -> float:
        """Those of the side that leads to fewer, each with its partners."""
        width = len(self.left.columns)
        on_left = tuple(i for i in indexes if i < width)
        on_right = tuple(i - width for i in indexes if i >= width)
        return min(self.found_by_left(on_left).given, self.found_by_right(on_right).given)

    def found_by_left(self, indexes: tuple[int, ...]) -> PerKey:
        """What is expected for a key of the left side's columns."""
        partners = self.right.rows_per_key(self.right_keys) if self.on else MANY
        return PerKey(self.left.rows_per_key(indexes) if indexes else inf, partners)

    def found_by_right(self, indexes: tuple[int, ...]) -> PerKey:
        partners = self.left.rows_per_key(self.left_keys) if self.on else MANY
        return PerKey(self.right.rows_per_key(indexes) if indexes else inf, partners)

    def expected_rows(self, expect: Expects) -> float:
        """left × right / the larger number of different keys"""
        left, right = expect.rows(self.left), expect.rows(self.right)
        if len(self.columns) == len(self.left.columns):  # it only asks whether there is a partner
            return left
        keys = expect.distinct(self.left, self.left_keys)
        return left * right / max(keys, expect.distinct(self.right, self.right_keys))

    def right_beside(self, found: Node, down: Restrict) -> Node:
        """The right side, read by the keys of the rows found on the left; whole without any."""
        if not self.on:
            return self.right
        return down(self.right, self.right_keys, Keys(found, self.left_keys, self.nulls_match))

    def left_beside(self, found: Node, down: Restrict) -> Node:
        if not self.on:
            return self.left
        return down(self.left, self.left_keys, Keys(found, self.right_keys, self.nulls_match))


@dataclass(frozen=True, eq=False)
class Join(Pairing):
    """Inner or cross join."""

    def describe(self) -> str:
        return self.words("Join")

    def delta(self, change: Calculus) -> Node | None:
        left, right = change.delta(self.left), change.delta(self.right)
        terms: list[Node | None] = []
        if left is not None:
            now = self.with_inputs(self.left, change.after(self.right))
            terms.append(self.with_inputs(left, now.right_beside(left, change.restrict)))
        if right is not None:
            old = self.with_inputs(change.before(self.left), self.right)
            terms.append(self.with_inputs(old.left_beside(right, change.restrict), right))
        return add(*terms)

    def restrict(self, indexes: tuple[int, ...], keys: Keys, down: Restrict) -> Node | None:
        """To the side where fewer rows are read, then to the other by the rows found."""
        width = len(self.left.columns)
        on_left = tuple(p for p, i in enumerate(indexes) if i < width)
        on_right = tuple(p for p, i in enumerate(indexes) if i >= width)
        left_columns = tuple(indexes[p] for p in on_left)
        right_columns = tuple(indexes[p] - width for p in on_right)
        by_left, by_right = self.found_by_left(left_columns), self.found_by_right(right_columns)
        if not on_right or (on_left and by_left.read <= by_right.read):
            left = down(self.left, left_columns, keys.pick(on_left))
            right = self.right_beside(left, down)
        else:
            right = down(self.right, right_columns, keys.pick(on_right))
            left = self.left_beside(right, down)
        narrowed = self.with_inputs(left, right)
        return key_filtered(narrowed, indexes, keys) if on_left and on_right else narrowed

    def origins_of(self, index: int) -> tuple[Origin, ...]:
        return (self.beside(index),)

    def tested_by(self, indexes: tuple[int, ...]) -> tuple[tuple[int, ...], Keys] | None:
        """A row of one side has a partner on the other."""
        if not self.on:
            return None
        if indexes and min(indexes) >= len(self.left.columns):
            return self.right_keys, Keys(self.left, self.left_keys, self.nulls_match)
        return self.left_keys, Keys(self.right, self.right_keys, self.nulls_match)

    def gives_nothing(self, is_empty: IsEmpty) -> bool:
        return is_empty(self.left) or is_empty(self.right)

    # --- who evaluates what -------------------------------------------------------------------

    def legalized(self, refusal: Refusal) -> Node:
        if self.condition is None:
            return self
        parts = list(conjuncts(self.condition))
        ours = conjunction([part for part in parts if refusal(part) is None])
        rest = [part for part in parts if refusal(part) is not None]
        joined = replace(self, condition=ours)
        return filtered(joined, rest, refusal) if rest else joined

    def push_down(
        self, conditions: Sequence[Expression], down: PushDown, refusal: Refusal
    ) -> Node | None:
        """σ(p ∧ q)(A ⋈ B) = σp(A) ⋈ σq(B), where p reads A only and q reads B only; an equality
        between a column of A and a column of B becomes a key of the join."""
        width = len(self.left.columns)
        left: list[Expression] = []
        right: list[Expression] = []
        on = list(self.on)
        rest = list(conjuncts(self.condition)) if self.condition else []
        for part in conditions:
            used = refs(part)
            if used and max(used) < width:
                left.append(part)
            elif used and min(used) >= width:
                right.append(shift(part, -width))
            elif (pair := key_pair(part, width, refusal)) and not self.nulls_match:
                on.append(pair)
            else:
                rest.append(part)
        sides = down(self.left, left), down(self.right, right)
        return Join(*sides, tuple(on), conjunction(rest), self.nulls_match)


def key_pair(part: Expression, width: int, refusal: Refusal) -> tuple[int, int] | None:
    """The columns of both sides that the condition says are equal, if that is all it says."""
    if not (isinstance(part, Call) and part.function == "=") or refusal(part):
        return None
    first, second = (plain_column(side) for side in part.arguments)
    if first is None or second is None:
        return None
    low, high = min(first, second), max(first, second)
    return (low, high - width) if low < width <= high else None
