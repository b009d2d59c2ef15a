"""choose first rows: those of a query with LIMIT, from the stored ones and the change, or from all
rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pgstream.algebra.top import Top
from pgstream.refresh.stages.stage import Stage
from pgstream.refresh.stages.work import Work, known


@dataclass(frozen=True)
class ChooseFirstRows(Stage):
    top: Top
    whole: bool

    @property
    def does(self) -> str:
        of = "all rows" if self.whole else "the stored first rows and the change"
        ties = " and those that tie" if self.top.ties else ""
        return f"PostgreSQL sorts {of}: the first {self.top.size}{ties} stay"

    def run(self, work: Work) -> Work:
        rows = work.tools.top_rows
        choose = rows.first_of if self.whole else rows.changed
        return replace(work, first=choose(known(work.rows)))
