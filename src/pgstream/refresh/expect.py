"""expect: what a differential refresh and a full one would cost, by the plan and by history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from pgstream.algebra.calculus.differentiate import Changed, Differential
from pgstream.algebra.groups import Groups
from pgstream.algebra.nested import Hidden
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.scan import Part, Scan, Source
from pgstream.algebra.plan import Plan
from pgstream.catalog.records import Action
from pgstream.refresh.changes import SourceChanges
from pgstream.refresh.cost import Cost, Counts, Expected, Statistics, cost_of

MOST_CORRECTION = 10.0
CLOSE_TO_DIFFERENTIAL, CLOSE_TO_FULL = 0.75, 2.0
"""Between them the estimate may be wrong about which of the two takes less time."""
WORTH_A_TRIAL = 1000.0
"""How long a differential refresh takes, in milliseconds, to which the full one is compared."""
Past = Sequence[tuple[str, float, float]]
"""Of past refreshes of the table: the action, how long it took, how long it was to take."""


@dataclass(frozen=True)
class Expectation:
    differential: Cost
    full: Cost
    differential_correction: float = 1.0
    full_correction: float = 1.0
    measured: frozenset[str] = frozenset((Action.DIFFERENTIAL, Action.FULL))
    """Of which of the two the table's history tells how long it took."""

    @property
    def times_full(self) -> float:
        """How long the differential refresh takes, in terms of the full one."""
        return self.differential_ms / (self.full.ms * self.full_correction)

    @property
    def differential_ms(self) -> float:
        return self.differential.ms * self.differential_correction

    @property
    def best(self) -> Action:
        return Action.DIFFERENTIAL if self.times_full <= 1.0 else Action.FULL

    @property
    def trial(self) -> Action | None:
        """The other one, where it is close and was never measured: from then on history decides."""
        if self.best is Action.FULL:
            is_unknown = Action.DIFFERENTIAL not in self.measured
            return Action.DIFFERENTIAL if is_unknown and self.times_full <= CLOSE_TO_FULL else None
        is_close = self.times_full >= CLOSE_TO_DIFFERENTIAL
        is_long = self.differential_ms >= WORTH_A_TRIAL
        is_half_known = self.measured == {Action.DIFFERENTIAL}
        return Action.FULL if is_half_known and is_close and is_long else None


def expect(
    plan: Plan,
    stored: Scan,
    changes: SourceChanges,
    statistics: Statistics,
    past: Past,
    most_rows: int,
) -> Expectation:
    counts = dict(counts_of(changes))
    most = _most_given(plan, stored, changes, statistics)
    trees = list(_differential(plan, counts, statistics))
    return Expectation(
        cost_of(trees, counts, statistics, most_rows, most),
        cost_of(_full(plan, stored), counts, statistics, most_rows, most),
        correction(past, Action.DIFFERENTIAL),
        correction(past, Action.FULL),
        frozenset(action for action, _, _ in past),
    )


def sources_of(plan: Plan, stored: Scan) -> Iterator[Source]:
    """All tables of which statistics are asked."""
    yield stored.source
    yield from (hidden.source for hidden in plan.hidden)
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


def _most_given(plan: Plan, stored: Scan, changes: SourceChanges, statistics: Statistics) -> float:
    """All that is stored goes, and as much comes, with what the changes bring."""
    sources = (stored.source, *(hidden.source for hidden in plan.hidden))
    known = sum(statistics.rows(source.schema, source.name) for source in sources)
    return 2 * (known + changes.total)


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
            counts[hidden.source.relid, Part.PENDING] = 2 * touched / _stays(hidden, statistics)
    changed = changed_by(counts)
    groups = plan.accumulated
    delta = plan.change(changed) if groups is None else _of_groups(groups, changed)
    if delta is not None:
        yield delta


def _stays(hidden: Hidden, statistics: Statistics) -> float:
    """Of how many touched groups one changes. One that shows its keys only changes when it comes
    or goes: the more rows it has, the less often."""
    if hidden.aggregate.calls:
        return 1.0
    groups = statistics.rows(hidden.source.schema, hidden.source.name)
    rows = Expected({}, statistics).rows(Differential({}).after(hidden.aggregate.input))
    return max(rows / groups, 1.0) if groups else 1.0


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
