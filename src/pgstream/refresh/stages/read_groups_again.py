"""read groups again: the accumulators of some groups, from the sources."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pgstream.algebra.operators.parameter import Parameter
from pgstream.algebra.plan import Accumulated, Plan
from pgstream.refresh.stages.stage import Stage
from pgstream.refresh.stages.work import Work, known


@dataclass(frozen=True)
class ReadGroupsAgain(Stage):
    plan: Plan
    accumulated: Accumulated

    @property
    def does(self) -> str:
        if self.accumulated.recomputes:
            return "Spark runs Group Read Again, for the touched groups"
        lost = "that lost an extreme" if self.accumulated.has_extremes else ""
        unsure = "whose digits are open" if self.accumulated.unsure else ""
        which = " or ".join(filter(None, (lost, unsure)))
        return f"Spark runs Group Read Again, for groups {which}"

    def is_needed(self, work: Work) -> bool:
        return work.again is not None

    def run(self, work: Work) -> Work:
        state = work.tools.state(self.accumulated)
        keys = Parameter("touched groups", state.keys)
        work.tools.execution.give(keys, known(work.again))
        node = self.plan.groups_again(work.changed, keys)
        fresh = work.tools.materialize("fresh", node, state.columns)
        if self.accumulated.recomputes:
            return replace(work, groups=state.recomputed(known(work.rows), fresh))
        return replace(work, groups=state.with_fresh(known(work.groups), fresh))
