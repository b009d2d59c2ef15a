"""add to groups: the touched groups before and after the change, and which of them must be read
again to know."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pgstream.algebra.groups import Groups
from pgstream.database.quoting import compose
from pgstream.engine.rows import Rows
from pgstream.refresh.stages.group_keys import read_keys
from pgstream.refresh.stages.stage import Stage
from pgstream.refresh.stages.work import Work, known
from pgstream.storage.temporary import Temporary


@dataclass(frozen=True)
class AddToGroups(Stage):
    groups: Groups

    @property
    def does(self) -> str:
        return "PostgreSQL adds the stored accumulators of the touched groups and the change"

    def run(self, work: Work) -> Work:
        groups = work.tools.state(self.groups).added(known(work.rows))
        return replace(work, groups=groups, again=self._again(work, groups))

    def _again(self, work: Work, groups: Temporary) -> Rows | None:
        state = work.tools.state(self.groups)
        query = state.unsettled(known(work.rows), groups)
        if query is None:
            return None
        found = read_keys(work.tools, state.keys, compose("({q}) again", q=query))
        return found if found.table.num_rows else None
