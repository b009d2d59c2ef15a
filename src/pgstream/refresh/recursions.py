"""The recursive CTEs of a stream table: their changes, before the query around them is computed."""

from __future__ import annotations

from dataclasses import dataclass

from pgstream.algebra.calculus.differentiate import Changed
from pgstream.algebra.calculus.recursion import Recursion
from pgstream.algebra.operators.scan import Change, Part, Stored
from pgstream.engine.rows import Rows
from pgstream.engine.zsets import negated, picked, total
from pgstream.refresh.compute import Computation
from pgstream.refresh.fixpoint import Fixpoint
from pgstream.storage.recursive import RecursiveTable


@dataclass
class Recursions:
    computation: Computation
    limit: int

    def run(self, changed: Changed, whole: bool) -> Changed:
        """Which tables changed, those of the recursive CTEs included; these are stored."""
        for recursion in self.computation.prepared.plan.recursions:
            fixpoint = Fixpoint(recursion, self.computation.execution, changed, self.limit)
            if whole:
                self.replace(recursion, fixpoint)
            elif self.change(recursion, fixpoint):
                changed = {**changed, recursion.source.relid: frozenset((Part.PENDING,))}
        return changed

    def change(self, recursion: Recursion, fixpoint: Fixpoint) -> bool:
        """Whether those who read the CTE see a change."""
        rows = fixpoint.change()
        if rows is None or not rows.table.num_rows:
            return False
        self.store(recursion, rows)
        shown = shown_rows(recursion, rows)
        self.computation.execution.give(Change(recursion.scan, Part.PENDING), shown)
        return bool(shown.table.num_rows)

    def replace(self, recursion: Recursion, fixpoint: Fixpoint) -> None:
        """All rows anew. Who reads the CTE reads them in place of the stored ones."""
        rows = fixpoint.whole()
        if not self.computation.prepared.renews:
            before = fixpoint.stored_whole()
            self.store(recursion, total([rows, negated(before)]))
        else:
            self.create(recursion)
            self.store(recursion, rows)
        shown = shown_rows(recursion, rows)
        self.computation.execution.give(Stored(recursion.scan), shown)

    # --- storage ----------------------------------------------------------------------------

    def table(self, recursion: Recursion) -> RecursiveTable:
        id_ = self.computation.prepared.table.id
        return RecursiveTable(self.computation.apply, id_, recursion.table)

    def create(self, recursion: Recursion) -> None:
        table = self.table(recursion)
        if recursion.is_hidden:
            table.create()
        table.index(self.computation.prepared.plan.looked_up(recursion))

    def store(self, recursion: Recursion, rows: Rows) -> None:
        """Into the state table. Where the stream table is the storage, its own delta does it."""
        if recursion.is_hidden:
            self.table(recursion).change(rows.table, [c.trimmed for c in rows.carriers])


def shown_rows(recursion: Recursion, rows: Rows) -> Rows:
    """What those who read the CTE see."""
    return total([picked(rows, range(recursion.visible))])
