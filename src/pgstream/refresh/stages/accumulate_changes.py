"""accumulate changes: per group, what the changes add to its accumulators."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pgstream.algebra.plan import Accumulated, Plan
from pgstream.refresh.stages.stage import Stage
from pgstream.refresh.stages.work import Work


@dataclass(frozen=True)
class AccumulateChanges(Stage):
    plan: Plan
    accumulated: Accumulated

    @property
    def does(self) -> str:
        names = ", ".join(a.name for a in self.accumulated.accumulators)
        return f"Spark runs the Delta Tree: {names} of each touched group"

    def run(self, work: Work) -> Work:
        node = self.plan.change(work.changed)
        if node is None:
            return replace(work, is_without_effect=True)
        *columns, _row_id = node.columns
        return replace(work, rows=work.tools.materialize("change", node, columns))
