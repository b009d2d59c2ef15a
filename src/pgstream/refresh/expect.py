"""expect: what a differential refresh and a full one would cost, by the plan and by history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from pgstream.algebra.calculus.differentiate import Changed
from pgstream.algebra.groups import Groups
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.scan import Part, Scan, Source
from pgstream.algebra.plan import Plan
from pgstream.catalog.records import Action
from pgstream.refresh.changes import SourceChanges
from pgstream.refresh.cost import Cost, Counts, Expected, Statistics, cost_of

MOST_CORRECTION = 10.0
Past = Sequence[tuple[str, float, float]]
"""Of past refreshes of the table: the action, how long it took, how long it was to take."""


@dataclass(frozen=True)
class Expectation:
    differential: Cost
    full: Cost
    differential_correction: float = 1.0
    full_correction: float = 1.0

    @property
    def times_full(self) -> float:
        """How long the differential refresh takes, in terms of the full one."""
        ours = self.differential.ms * self.differential_correction
        return ours / (self.full.ms * self.full_correction)


def expect(
    plan: Plan,
    stored: Scan,
    changes: SourceChanges,
    statistics: Statistics,
    past: Past,
    most_rows: int,
) -> Expectation:
    counts = dict(counts_of(changes))
    trees = list(_differential(plan, counts, statistics))
    return Expectation(
        cost_of(trees, counts, statistics, most_rows),
        cost_of(_full(plan, stored), counts, statistics, most_rows),
        correction(past, Action.DIFFERENTIAL),
        correction(past, Action.FULL),
    )


def sources_of(plan: Plan, stored: Scan) -> Iterator[Source]:
    """All tables of which statistics are asked."""
    yield stored.source
    yield from (scan.source for scan in _scans(plan))


def counts_of(changes: SourceChanges) -> Counts:
    counts = {(relid, Part.COMMITTED): n for relid, n in changes.committed.items()}
    return counts | {(relid, Part.PENDING): n for relid, n in changes.pending.items()}


def correction(past: Past, action: Action) -> float:
    """How many times as long as expected such refreshes took, in the median. If there were none,
    others tell how fast the machine is."""
    alike = [each for each in past if each[0] == action] or past
    taken = [took / expected for _, took, expected in alike if expected]
    return min(max(median(taken), 1 / MOST_CORRECTION), MOST_CORRECTION) if taken else 1.0


def _differential(
    plan: Plan, counts: dict[tuple[int, Part], float], statistics: Statistics
) -> Iterator[Node]:
    """The trees that read all that a differential refresh reads. Of nested state the groups before
    and after are a change; `counts` learns it."""
    for hidden in plan.hidden:
        delta = _of_groups(hidden, changed_by(counts))
        if delta is not None:
            yield delta
            touched = Expected(counts, statistics).rows(delta)
            counts[hidden.source.relid, Part.PENDING] = 2 * touched
    changed = changed_by(counts)
    groups = plan.accumulated
    delta = plan.change(changed) if groups is None else _of_groups(groups, changed)
    if delta is not None:
        yield delta


def _of_groups(groups: Groups, changed: Changed) -> Node | None:
    delta = groups.change(changed)
    if delta is None or not groups.recomputes:
        return delta
    return groups.again(changed, delta)  # by the keys of the change


def _full(plan: Plan, stored: Scan) -> list[Node]:
    """What an aggregate or the first rows were before is not read on Spark."""
    is_plain = plan.accumulated is None and plan.top is None
    nested = [hidden.all({}) for hidden in plan.hidden]
    return [*nested, plan.full({}, stored if is_plain else None)]


def changed_by(counts: Counts) -> Changed:
    return {
        relid: frozenset(part for part in Part if (relid, part) in counts) for relid, _ in counts
    }


def _scans(plan: Plan) -> Iterator[Scan]:
    nodes = (node for tree in plan.trees for node in tree.walk())
    return (node for node in nodes if isinstance(node, Scan))
