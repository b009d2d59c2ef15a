"""find touched groups: the keys of the groups in which something has changed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pgstream.algebra.plan import Accumulated, Plan
from pgstream.refresh.stages.group_keys import read_keys
from pgstream.refresh.stages.stage import Stage
from pgstream.refresh.stages.work import Work


@dataclass(frozen=True)
class FindTouchedGroups(Stage):
    plan: Plan
    accumulated: Accumulated

    @property
    def does(self) -> str:
        return "Spark runs the Delta Tree: the keys of groups with floats to add up"

    def run(self, work: Work) -> Work:
        node = self.plan.change(work.changed)
        if node is None:
            return replace(work, is_without_effect=True)
        keys = self.accumulated.key_columns
        rows = work.tools.materialize("change", node, keys)
        return replace(work, rows=rows, again=read_keys(work.tools, keys, rows.name))
