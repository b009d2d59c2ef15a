"""follow recursion: the changes of recursive CTEs, before the query around them is computed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pgstream.algebra.calculus.recursion import Recursion
from pgstream.algebra.operators.scan import Change, Part, Stored
from pgstream.engine.rows import Rows
from pgstream.engine.zsets import negated, picked, total
from pgstream.refresh.fixpoint import Fixpoint
from pgstream.refresh.stages.stage import Stage
from pgstream.refresh.stages.work import Work


@dataclass(frozen=True)
class FollowRecursion(Stage):
    recursions: tuple[Recursion, ...]
    whole: bool

    @property
    def does(self) -> str:
        names = ", ".join(recursion.name for recursion in self.recursions)
        what = "all rows" if self.whole else "what changes"
        return f"{names}: {what}, round by round on Spark"

    def run(self, work: Work) -> Work:
        for recursion in self.recursions:
            tools = work.tools
            limit = tools.settings.max_recursion
            fixpoint = Fixpoint(recursion, tools.execution, work.changed, limit)
            follow = _whole if self.whole else _change
            work = follow(work, recursion, fixpoint)
        return work


def _change(work: Work, recursion: Recursion, fixpoint: Fixpoint) -> Work:
    """Those who read the CTE see a pending change of it."""
    rows = fixpoint.change()
    if rows is None or not rows.table.num_rows:
        return work
    shown = _shown(recursion, rows)
    work.tools.execution.give(Change(recursion.scan, Part.PENDING), shown)
    changed = work.changed
    if shown.table.num_rows:
        changed = {**changed, recursion.source.relid: frozenset((Part.PENDING,))}
    return replace(work, changed=changed, recursive=(*work.recursive, (recursion, rows)))


def _whole(work: Work, recursion: Recursion, fixpoint: Fixpoint) -> Work:
    """Those who read the CTE read all its rows instead of the stored ones."""
    rows = fixpoint.whole()
    work.tools.execution.give(Stored(recursion.scan), _shown(recursion, rows))
    if not work.tools.prepared.renews:
        rows = total([rows, negated(fixpoint.stored_whole())])
    return replace(work, recursive=(*work.recursive, (recursion, rows)))


def _shown(recursion: Recursion, rows: Rows) -> Rows:
    """What those who read the CTE see."""
    return total([picked(rows, range(recursion.visible))])
