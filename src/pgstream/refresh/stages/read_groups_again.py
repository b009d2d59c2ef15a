"""read groups again: the accumulators of some groups, from the sources."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pgstream.algebra.groups import Groups
from pgstream.algebra.operators.parameter import Parameter
from pgstream.refresh.stages.stage import Stage
from pgstream.refresh.stages.work import Work, known


@dataclass(frozen=True)
class ReadGroupsAgain(Stage):
    groups: Groups

    @property
    def does(self) -> str:
        if self.groups.recomputes:
            return "Spark runs Group Read Again, for the touched groups"
        lost = "that lost an extreme" if self.groups.has_extremes else ""
        unsure = "whose digits are open" if self.groups.unsure else ""
        which = " or ".join(filter(None, (lost, unsure)))
        return f"Spark runs Group Read Again, for groups {which}"

    def is_needed(self, work: Work) -> bool:
        return work.again is not None

    def run(self, work: Work) -> Work:
        state = work.tools.state(self.groups)
        keys = Parameter(f"touched groups of {state.name}", state.keys)
        work.tools.execution.give(keys, known(work.again))
        node = self.groups.again(work.changed, keys)
        fresh = work.tools.materialize(f"fresh_{state.name}", node, state.columns)
        if self.groups.recomputes:
            return replace(work, groups=state.recomputed(known(work.rows), fresh))
        return replace(work, groups=state.with_fresh(known(work.groups), fresh))
