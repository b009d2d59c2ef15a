"""compute delta: the change of the query's rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pgstream.algebra.plan import Plan
from pgstream.refresh.stages.stage import Stage
from pgstream.refresh.stages.work import Work


@dataclass(frozen=True)
class ComputeDelta(Stage):
    plan: Plan

    @property
    def does(self) -> str:
        of = (
            "the stream table's change"
            if self.plan.top is None
            else "the change of the rows to choose from"
        )
        return f"Spark runs the Delta Tree: {of}"

    def run(self, work: Work) -> Work:
        node = self.plan.change(work.changed)
        if node is None:
            return replace(work, is_without_effect=True)
        if self.plan.top is not None:
            rows = work.tools.materialize("change", node, self.plan.tree.columns)
            return replace(work, rows=rows)
        return replace(work, delta=work.tools.materialize("delta", node, self.plan.columns))
