"""apply delta: takes rows out of the stream table and puts rows in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from pgstream.refresh.stages.stage import Stage, Step
from pgstream.refresh.stages.work import Work, known
from pgstream.storage.apply_to_users import Triggers, apply_to_users


@dataclass(frozen=True)
class ApplyDelta(Stage):
    step: ClassVar[Step] = Step.APPLY

    @property
    def does(self) -> str:
        return "removes rows from the stream table, and adds rows"

    def run(self, work: Work) -> Work:
        tools = work.tools
        triggers = Triggers(tools.settings.user_triggers)
        delta = known(work.delta)
        applied = apply_to_users(tools.connections.apply, tools.target, delta, triggers)
        return replace(work, applied=applied)
