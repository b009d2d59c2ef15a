"""store nested state: the accumulators of nested aggregates, each in its hidden table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pgstream.algebra.nested import Hidden
from pgstream.refresh.stages.stage import Stage, Step
from pgstream.refresh.stages.work import Work


@dataclass(frozen=True)
class StoreNestedState(Stage):
    step: ClassVar[Step] = Step.APPLY
    hidden: tuple[Hidden, ...]
    whole: bool

    @property
    def does(self) -> str:
        return ", ".join(str(each.source) for each in self.hidden)

    def is_needed(self, work: Work) -> bool:
        return bool(work.nested)

    def run(self, work: Work) -> Work:
        for hidden, groups in work.nested:
            state = work.tools.state(hidden)
            if self.whole:
                state.replace(groups)
                state.index(work.plan.looked_up(hidden.source))
                state.analyze()
            else:
                state.store(groups)
        return work
