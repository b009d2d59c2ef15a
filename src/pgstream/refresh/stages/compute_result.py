"""compute result: the query's rows over whole tables."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pgstream.algebra.plan import Plan
from pgstream.refresh.stages.stage import Stage
from pgstream.refresh.stages.work import Work
from pgstream.storage.delta import delta_to
from pgstream.storage.temporary import Temporary


@dataclass(frozen=True)
class ComputeResult(Stage):
    plan: Plan

    @property
    def does(self) -> str:
        if self.plan.top is not None:
            return "Spark runs the Operator Tree over whole tables: the rows to choose from"
        return "Spark runs the Operator Tree over whole tables, less what is stored"

    def run(self, work: Work) -> Work:
        if self.plan.top is None:
            return replace(work, delta=self._delta(work))
        node = self.plan.full(work.changed, None)
        rows = work.tools.materialize("whole", node, self.plan.tree.columns)
        return replace(work, rows=rows)

    def _delta(self, work: Work) -> Temporary:
        """Spark takes what is stored from the result. What another plan has stored may have other
        row ids: PostgreSQL does it then."""
        tools, prepared = work.tools, work.tools.prepared
        if prepared.table.is_populated and prepared.renews:
            node = self.plan.full(work.changed, None)
            whole = tools.materialize("whole", node, self.plan.columns)
            return delta_to(tools.connections.apply, tools.target, whole)
        stored = prepared.stored if prepared.table.is_populated else None
        node = self.plan.full(work.changed, stored)
        return tools.materialize("delta", node, self.plan.columns)
