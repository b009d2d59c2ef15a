"""finish groups: from accumulators to the rows that users see."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pgstream.algebra.plan import Accumulated
from pgstream.algebra.top import Top
from pgstream.refresh.stages.stage import Stage
from pgstream.refresh.stages.work import Work, known
from pgstream.storage.delta import finished


@dataclass(frozen=True)
class FinishGroups(Stage):
    accumulated: Accumulated
    top: Top | None
    whole: bool

    @property
    def does(self) -> str:
        groups = "all groups" if self.whole or self.top else "the touched groups, old and new"
        first = ", and chooses the first" if self.top else ""
        return f"PostgreSQL computes HAVING and the SELECT list of {groups}{first}"

    def run(self, work: Work) -> Work:
        tools, groups = work.tools, known(work.groups)
        if self.top is None:
            apply = tools.connections.apply
            delta = finished(apply, tools.target, self.accumulated, groups, self.whole)
            return replace(work, delta=delta)
        state = tools.state(self.accumulated)
        every = groups.name if self.whole else state.all_groups(groups)
        delta = tools.top_rows.shown_groups(self.accumulated, every)
        return replace(work, delta=delta)
