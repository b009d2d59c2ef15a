"""follow nested state: the changes of hidden tables, before what reads them is computed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pgstream.algebra.groups import Groups
from pgstream.algebra.nested import Hidden
from pgstream.algebra.operators.scan import Change, Part, Stored
from pgstream.engine.rows import Rows
from pgstream.refresh.stages.accumulate_all import AccumulateAll
from pgstream.refresh.stages.accumulate_changes import AccumulateChanges
from pgstream.refresh.stages.add_to_groups import AddToGroups
from pgstream.refresh.stages.find_touched_groups import FindTouchedGroups
from pgstream.refresh.stages.read_groups_again import ReadGroupsAgain
from pgstream.refresh.stages.run_stages import run_stages
from pgstream.refresh.stages.stage import Stage, Step
from pgstream.refresh.stages.work import Work
from pgstream.storage.temporary import Temporary


def group_stages(groups: Groups, whole: bool) -> tuple[Stage, ...]:
    """How the touched groups of a stored aggregate, or all of them, are computed."""
    if whole:
        return (AccumulateAll(groups),)
    again = ReadGroupsAgain(groups)
    if groups.recomputes:
        return FindTouchedGroups(groups), again
    computes = (AccumulateChanges(groups), AddToGroups(groups))
    return (*computes, again) if groups.read_again_when else computes


@dataclass(frozen=True)
class FollowNestedState(Stage):
    hidden: tuple[Hidden, ...]
    whole: bool

    @property
    def does(self) -> str:
        names = ", ".join(each.source.name for each in self.hidden)
        what = "all groups" if self.whole else "the touched groups"
        return f"{names}: {what}, each as the groups of a stream table are"

    def run(self, work: Work) -> Work:
        for hidden in self.hidden:
            work = self._followed(work, hidden)
        return work

    def _followed(self, work: Work, hidden: Hidden) -> Work:
        own = Work(work.tools, work.changed)
        groups = run_stages(group_stages(hidden, self.whole), Step.COMPUTE, own).groups
        if groups is None:  # what has changed does not lead here
            return work
        work = replace(work, nested=(*work.nested, (hidden, groups)))
        return _whole(work, hidden, groups) if self.whole else _change(work, hidden, groups)


def _change(work: Work, hidden: Hidden, groups: Temporary) -> Work:
    """Those who read the groups see a pending change of them."""
    is_changed = False
    for scan in work.plan.scans_of(hidden):
        rows = work.tools.execution.handover.passed_on(scan, groups.name)
        work.tools.execution.give(Change(scan, Part.PENDING), rows)
        is_changed |= not isinstance(rows, Rows) or rows.table.num_rows > 0
    pending = {hidden.source.relid: frozenset((Part.PENDING,))} if is_changed else {}
    return replace(work, changed={**work.changed, **pending})


def _whole(work: Work, hidden: Hidden, groups: Temporary) -> Work:
    """Those who read the groups read these instead of the stored ones."""
    for scan in work.plan.scans_of(hidden):
        rows = work.tools.execution.handover.passed_on(scan, groups.name)
        work.tools.execution.give(Stored(scan), rows)
    return work
