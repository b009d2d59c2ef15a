"""apply delta: takes rows out of the stream table and puts rows in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from pgstream.refresh.stages.stage import Stage, Step
from pgstream.refresh.stages.work import Work, known
from pgstream.storage.apply import apply


@dataclass(frozen=True)
class ApplyDelta(Stage):
    step: ClassVar[Step] = Step.APPLY

    @property
    def does(self) -> str:
        return "removes rows from the stream table, and adds rows"

    def run(self, work: Work) -> Work:
        tools = work.tools
        applied = apply(tools.connections.apply, tools.target, known(work.delta))
        return replace(work, applied=applied)
