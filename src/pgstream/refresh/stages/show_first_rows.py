"""show first rows: from the first rows to the stream table's change."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pgstream.algebra.top import Top
from pgstream.refresh.stages.stage import Stage
from pgstream.refresh.stages.work import Work, known


@dataclass(frozen=True)
class ShowFirstRows(Stage):
    top: Top

    @property
    def does(self) -> str:
        which = f"those after row {self.top.offset}" if self.top.offset else "all of them"
        return f"PostgreSQL compares with the stream table: it shows {which}"

    def run(self, work: Work) -> Work:
        delta = work.tools.top_rows.shown(known(work.first))
        return replace(work, delta=delta)
