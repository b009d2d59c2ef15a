"""pass on delta: into the stream table's change buffer, for those who read the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pgstream.capture.append import append
from pgstream.refresh.stages.stage import Stage, Step
from pgstream.refresh.stages.work import Work, known


@dataclass(frozen=True)
class PassOnDelta(Stage):
    step: ClassVar[Step] = Step.APPLY

    @property
    def does(self) -> str:
        return "into the stream table's change buffer, if other stream tables read it"

    def run(self, work: Work) -> Work:
        tools, target = work.tools, work.tools.target
        append(tools.connections.apply, target.relid, known(work.delta).name, target.names)
        return work
