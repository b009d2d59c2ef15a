"""accumulate all: the accumulators of all groups, from whole tables."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pgstream.algebra.plan import Accumulated, Plan
from pgstream.refresh.stages.stage import Stage
from pgstream.refresh.stages.work import Work


@dataclass(frozen=True)
class AccumulateAll(Stage):
    plan: Plan
    accumulated: Accumulated

    @property
    def does(self) -> str:
        names = ", ".join(a.name for a in self.accumulated.accumulators)
        return f"Spark computes {names} of each group, over whole tables"

    def run(self, work: Work) -> Work:
        node = self.plan.full(work.changed, None)
        columns = work.tools.state(self.accumulated).columns
        return replace(work, groups=work.tools.materialize("groups", node, columns))
