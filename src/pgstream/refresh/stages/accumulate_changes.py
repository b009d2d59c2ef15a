"""accumulate changes: per group, what the changes add to its accumulators."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pgstream.algebra.groups import Groups
from pgstream.refresh.stages.stage import Stage
from pgstream.refresh.stages.work import Work


@dataclass(frozen=True)
class AccumulateChanges(Stage):
    groups: Groups

    @property
    def does(self) -> str:
        names = ", ".join(a.name for a in self.groups.accumulators)
        return f"Spark runs the Delta Tree: {names} of each touched group"

    def run(self, work: Work) -> Work:
        node = self.groups.change(work.changed)
        if node is None:
            return replace(work, is_without_effect=True)
        *columns, _row_id = node.columns
        kind = f"change_{work.tools.state(self.groups).name}"
        return replace(work, rows=work.tools.materialize(kind, node, columns))
