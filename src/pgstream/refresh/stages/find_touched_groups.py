"""find touched groups: the keys of the groups in which something has changed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pgstream.algebra.groups import Groups
from pgstream.refresh.stages.group_keys import read_keys
from pgstream.refresh.stages.stage import Stage
from pgstream.refresh.stages.work import Work


@dataclass(frozen=True)
class FindTouchedGroups(Stage):
    groups: Groups

    @property
    def does(self) -> str:
        return "Spark runs the Delta Tree: the keys of groups with floats to add up"

    def run(self, work: Work) -> Work:
        node = self.groups.change(work.changed)
        if node is None:
            return replace(work, is_without_effect=True)
        keys = self.groups.key_columns
        kind = f"change_{work.tools.state(self.groups).name}"
        rows = work.tools.materialize(kind, node, keys)
        return replace(work, rows=rows, again=read_keys(work.tools, keys, rows.name))
