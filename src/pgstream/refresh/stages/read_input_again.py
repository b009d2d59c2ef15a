"""read input again: the first rows from all rows, where too few of the stored ones are left."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pgstream.algebra.plan import Plan
from pgstream.refresh.stages.stage import Stage
from pgstream.refresh.stages.work import Work


@dataclass(frozen=True)
class ReadInputAgain(Stage):
    plan: Plan

    @property
    def does(self) -> str:
        return "Spark runs the Operator Tree over whole tables, if too few first rows are left"

    def is_needed(self, work: Work) -> bool:
        return super().is_needed(work) and work.first is None

    def run(self, work: Work) -> Work:
        node = self.plan.full(work.changed, None)
        rows = work.tools.materialize("whole", node, self.plan.tree.columns)
        first = work.tools.top_rows.first_of(rows)
        note = "the boundary moved, the input is read again"
        return replace(work, rows=rows, first=first, note=note)
