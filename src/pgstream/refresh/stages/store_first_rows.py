"""store first rows: those of a query with LIMIT, for the next change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pgstream.algebra.top import Top
from pgstream.refresh.stages.stage import Stage, Step
from pgstream.refresh.stages.work import Work, known


@dataclass(frozen=True)
class StoreFirstRows(Stage):
    step: ClassVar[Step] = Step.APPLY
    top: Top
    whole: bool

    @property
    def does(self) -> str:
        return f"the first {self.top.size} rows into pgstream_state.top_<pgs_id>"

    def run(self, work: Work) -> Work:
        rows = work.tools.top_rows
        if self.whole:
            rows.create()
        rows.store(known(work.first))
        return work
