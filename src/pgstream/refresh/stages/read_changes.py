"""read changes: the rows that have changed in the sources, without what cancels out.

Of a base table they are in its buffer. Of a stream table that the same cycle has refreshed they
are pending: its delta, not committed yet. A full refresh starts from whole tables, so only what
is pending is a change to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from pgstream.algebra.calculus.differentiate import Changed
from pgstream.algebra.operators.scan import Change, Part, Scan
from pgstream.algebra.plan import Plan
from pgstream.engine.rows import Bound, Rows
from pgstream.refresh.stages.stage import Stage
from pgstream.refresh.stages.work import Tools, Work


@dataclass(frozen=True)
class ReadChanges(Stage):
    plan: Plan
    whole: bool

    @property
    def does(self) -> str:
        scans = self.plan.sources.values()
        names = [str(s.source) for s in scans if s.source.is_stream or not self.whole]
        if not names:
            return "none: " + ("tables are read whole" if scans else "the query reads no table")
        since = "in this cycle" if self.whole else "since the last refresh, less what cancels out"
        return f"what is new in {', '.join(names)} {since}"

    def is_needed(self, work: Work) -> bool:
        return any(relids for relids in self._counted(work.tools).values())

    def run(self, work: Work) -> Work:
        """The changes are leaves of the delta tree."""
        read = {change: work.tools.reader.read(change) for change in self._wanted(work.tools)}
        for change, rows in read.items():
            work.tools.execution.give(change, rows)
        return replace(work, changed=changed_by(read))

    def _wanted(self, tools: Tools) -> dict[Change, None]:
        counted = self._counted(tools)
        return dict.fromkeys(
            Change(scan, part)
            for part, relids in counted.items()
            for scan in self._scans()
            if scan.source.relid in relids
        )

    def _counted(self, tools: Tools) -> dict[Part, Mapping[int, int]]:
        committed = {} if self.whole else tools.changes.committed
        return {Part.PENDING: tools.changes.pending, Part.COMMITTED: committed}

    def _scans(self) -> Iterator[Scan]:
        """A source may be read with other columns in other parts of the query."""
        nodes = (node for tree in self.plan.trees for node in tree.walk())
        return (node for node in nodes if isinstance(node, Scan))


def changed_by(read: Mapping[Change, Bound]) -> Changed:
    found: dict[int, frozenset[Part]] = {}
    for change, rows in read.items():
        if not isinstance(rows, Rows) or rows.table.num_rows:
            relid = change.scan.source.relid
            found[relid] = found.get(relid, frozenset()) | {change.part}
    return found
