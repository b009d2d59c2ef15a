"""store recursion: the rows of recursive CTEs, each in its table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pgstream.algebra.calculus.recursion import Recursion
from pgstream.refresh.stages.stage import Stage, Step
from pgstream.refresh.stages.work import Work
from pgstream.storage.recursive import RecursiveTable


@dataclass(frozen=True)
class StoreRecursion(Stage):
    step: ClassVar[Step] = Step.APPLY
    recursions: tuple[Recursion, ...]
    whole: bool

    @property
    def does(self) -> str:
        hidden = [str(r.source) for r in self.recursions if r.is_hidden]
        return ", ".join(hidden) or "none: the stream table itself has the rows"

    def is_needed(self, work: Work) -> bool:
        return bool(work.recursive)

    def run(self, work: Work) -> Work:
        tools = work.tools
        for recursion, rows in work.recursive:
            table = RecursiveTable(tools.connections.apply, tools.target.id, recursion.table)
            if self.whole and tools.prepared.renews:
                if recursion.is_hidden:
                    table.create()
                table.index(tools.plan.looked_up(recursion.source))
            if recursion.is_hidden:  # else the stream table's own delta has them
                table.change(rows.table, [c.trimmed for c in rows.carriers])
        return work
