"""two_terms: the change of a join of n relations of which several change, by two joins.

    Δ(R₁ ⋈ … ⋈ Rₙ) = ⋈ (Sᵢ + Pᵢ) − ⋈ (Sᵢ − Cᵢ)
    Rᵢ after = Bᵢ + Pᵢ,   Rᵢ before = Bᵢ − Cᵢ,   Sᵢ = those rows of Bᵢ that are partners of a
    change of another relation, at least

Multiplied out, the joins of Sᵢ alone cancel. Every other product has a change in it, and of each
other factor the partners of that change: the same as with Bᵢ instead. So it does not matter how
many rows the Sᵢ have more than that, nor whether rows are repeated, nor what else the joins ask.
The sum is consolidated, so that what has not changed shows no keys to those above.

The rule of one join, applied n times, has n joins of n relations. This has two. It is taken where
it names fewer relations, and where the joins of Sᵢ stay small: see docs/design/calculus.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from pgstream.algebra.calculus.join_graph import (
    Step,
    joined_again,
    joined_relations,
    shortest_way,
)
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.key_filter import key_filtered
from pgstream.algebra.operators.negate import Consolidate, negate
from pgstream.algebra.operators.node import Calculus, Keys, Node
from pgstream.algebra.operators.partners import Partners
from pgstream.algebra.operators.scan import Lookup, Part, Scan, Stored
from pgstream.algebra.operators.union_all import add

FEWEST_RELATIONS = 3
"""Of two relations the rule of one join is as short."""
MOST_PARTNERS = 10.0
"""How many rows of the whole join a row of one of its relations may be expected to have."""


def two_terms(node: Node, change: Calculus) -> Node | None:
    """None where the rule does not apply."""
    if not isinstance(node, Join):
        return None
    relations = joined_relations(node)
    if len(relations) < FEWEST_RELATIONS:
        return None
    states = [_state(each, change) for each in relations]
    if sum(state.changes for state in states) < 2:
        return None
    way = shortest_way(node)
    if way is None or way.partners > MOST_PARTNERS:
        return None
    found = Found(tuple(states), (*way.steps, *(step.back for step in way.steps)), change)
    parts = [found.partners(number) for number in range(len(states))]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    pairs = list(zip(known, states, strict=True))
    after = joined_again(node, iter([_sum(part, state.gained) for part, state in pairs]))
    before = joined_again(node, iter([_sum(part, negate(state.lost)) for part, state in pairs]))
    return Consolidate(_sum(after, negate(before)))


class State(NamedTuple):
    """A relation: after the change it is base + gained, before it base − lost."""

    base: Node
    gained: Node | None
    lost: Node | None

    @property
    def changes(self) -> bool:
        return self.gained is not None or self.lost is not None


def _state(relation: Node, change: Calculus) -> State:
    """Of a table the base is what is stored: it is read as it is, whatever part has changed."""
    if isinstance(relation, Scan):
        parts = (relation.changed(part, change) for part in (Part.PENDING, Part.COMMITTED))
        return State(Stored(relation), *parts)
    return State(change.after(relation), None, change.delta(relation))


def _sum(part: Node, other: Node | None) -> Node:
    total = add(part, other)
    assert total is not None
    return total


@dataclass(frozen=True)
class Found:
    """What the steps of a way, in both directions, find from all changes.

    Each step is taken once: by the keys of the rows that changed where it starts, and of those
    that the steps before it have found there.
    """

    states: Sequence[State]
    steps: Sequence[Step]
    change: Calculus

    def partners(self, number: int) -> Node | None:
        """The rows of the relation that any step finds, each once; None if nobody can tell which
        of them are the same."""
        found = self._found_at(number)
        if len(found) == 1:
            return found[0]
        lookups = [each for each in found if isinstance(each, Lookup)]
        return Partners(tuple(lookups)) if len(lookups) == len(found) else None

    def _found_at(self, number: int, but_from: int | None = None) -> list[Node]:
        """What each of the steps finds that arrive at the relation, and come from a change."""
        return [self._rows(step) for step in self._arriving(number) if step.source != but_from]

    def _arriving(self, number: int) -> list[Step]:
        return [step for step in self.steps if step.target == number and self._has_cause(step)]

    def _has_cause(self, step: Step) -> bool:
        """Whether anything has changed where the step comes from."""
        before = (s for s in self.steps if s.target == step.source and s.source != step.target)
        return self.states[step.source].changes or any(map(self._has_cause, before))

    def _rows(self, step: Step) -> Node:
        """What the step finds. Where others arrive, too, the rows must be told apart."""
        keys = Keys(self._led_by(step), step.by, step.nulls)
        found = self.change.restrict(self.states[step.target].base, step.to, keys)
        is_one_of_several = len(self._arriving(step.target)) > 1
        if isinstance(found, Lookup) and is_one_of_several:
            return replace(found, placed=True)
        return found

    def _led_by(self, step: Step) -> Node:
        """The rows from which the step starts: those that changed and those that were found. Not
        those of them that have no partner where fewer are expected: no product has them. What
        comes back from where the step leads would be asked for before it is known."""
        state = self.states[step.source]
        rows = add(*self._found_at(step.source, step.target), state.gained, state.lost)
        assert rows is not None
        for other in () if self._has_cause(step.back) else self._before(step):
            there, found = self.states[other.target], self._rows(other)
            if isinstance(found, Lookup):
                partners = add(found, there.gained, there.lost)
                assert partners is not None
                rows = key_filtered(rows, other.by, Keys(partners, other.to, other.nulls))
        return rows

    def _before(self, step: Step) -> list[Step]:
        """Other steps from the same relation that find less than a row for each, and fewer than
        this one. Not the one that leads back to where all rows come from: these have a partner."""
        most = min(self._expected(step), 1.0)
        others = [s for s in self.steps if s.source == step.source and self._has_cause(s)]
        return sorted((s for s in others if self._expected(s) < most), key=self._expected)

    def _expected(self, step: Step) -> float:
        return self.states[step.target].base.rows_per_key(step.to)
