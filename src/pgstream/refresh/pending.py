"""Pending: what a cycle has done to stream tables and not committed yet."""

from __future__ import annotations

from dataclasses import dataclass, field

from pgstream.database.quoting import Name
from pgstream.refresh.stages.work import Work


@dataclass
class Pending:
    """The changes that this cycle has computed and not committed yet, by relid."""

    rows: dict[int, int] = field(default_factory=dict)
    deltas: dict[int, Name] = field(default_factory=dict)

    def add(self, work: Work) -> None:
        relid, applied = work.tools.target.relid, work.applied
        self.rows[relid] = applied.rows_inserted + applied.rows_deleted
        if work.delta is not None:
            self.deltas[relid] = work.delta.name
