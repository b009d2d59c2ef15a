"""store groups: the accumulators of the touched groups, or of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pgstream.algebra.plan import Accumulated
from pgstream.refresh.stages.stage import Stage, Step
from pgstream.refresh.stages.work import Work, known


@dataclass(frozen=True)
class StoreGroups(Stage):
    step: ClassVar[Step] = Step.APPLY
    accumulated: Accumulated
    whole: bool

    @property
    def does(self) -> str:
        groups = "all groups" if self.whole else "the touched groups"
        return f"the accumulators of {groups} into pgstream_state.state_<pgs_id>"

    def run(self, work: Work) -> Work:
        state, groups = work.tools.state(self.accumulated), known(work.groups)
        if self.whole:
            state.replace(groups)
        else:
            state.store(groups)
        return work
