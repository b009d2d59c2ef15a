"""accumulate all: the accumulators of all groups, from whole tables."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pgstream.algebra.groups import Groups
from pgstream.refresh.stages.stage import Stage
from pgstream.refresh.stages.work import Work


@dataclass(frozen=True)
class AccumulateAll(Stage):
    groups: Groups

    @property
    def does(self) -> str:
        names = ", ".join(a.name for a in self.groups.accumulators)
        return f"Spark computes {names} of each group, over whole tables"

    def run(self, work: Work) -> Work:
        node = self.groups.all(work.changed)
        state = work.tools.state(self.groups)
        groups = work.tools.materialize(f"groups_{state.name}", node, state.columns)
        return replace(work, groups=groups)
