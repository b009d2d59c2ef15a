"""Step 3: what has changed in a stream table's sources since its frontier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pgstream.capture.buffers import Buffers
from pgstream.capture.count_changes import count_changes
from pgstream.catalog.records import Mode, StreamTable


@dataclass(frozen=True)
class SourceChanges:
    """Per source relid: how many changes are committed, how many pending. By name: who was
    truncated, who has no frontier, who has rows of another shape; and which captures failed."""

    committed: Mapping[int, int] = field(default_factory=dict)
    pending: Mapping[int, int] = field(default_factory=dict)
    truncated: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    overflown: tuple[str, ...] = ()
    """Those whose changes were dropped, because there were too many."""
    incomplete: tuple[str, ...] = ()
    """Those of which rows were written that capture could not read."""
    failures: tuple[str, ...] = ()
    """Those with changes that could not be captured, each with the reason."""

    @property
    def total(self) -> int:
        return sum(self.committed.values()) + sum(self.pending.values())

    @property
    def nothing(self) -> bool:
        lost = self.truncated or self.overflown or self.incomplete or self.failures
        return not (self.total or self.unknown or lost)


def find_changes(buffers: Buffers, table: StreamTable, pending: Mapping[int, int]) -> SourceChanges:
    """In FULL mode nothing is captured; only what this cycle does to a source is known."""
    committed: dict[int, int] = {}
    truncated: list[str] = []
    unknown: list[str] = []
    overflown: list[str] = []
    incomplete: list[str] = []
    failures: list[str] = []
    captured = () if table.refresh_mode is Mode.FULL else table.dependencies
    for source in captured:
        frontier = table.frontier_of(source.relid)
        name = f"{source.schema}.{source.name}"
        if frontier is None:
            unknown.append(name)
            continue
        counted = count_changes(buffers, source.relid, frontier)
        if counted.rows:
            committed[source.relid] = counted.rows
        if "T" in counted.markers:
            truncated.append(name)
        if "O" in counted.markers:
            overflown.append(name)
        if "S" in counted.markers:
            incomplete.append(name)
        if counted.failure:
            failures.append(f"{name}: {counted.failure}")
    relids = {source.relid for source in table.dependencies}
    here = {relid: n for relid, n in pending.items() if relid in relids and n}
    lost = map(tuple, (truncated, unknown, overflown, incomplete, failures))
    return SourceChanges(committed, here, *lost)
