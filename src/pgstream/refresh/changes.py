"""Step 3: what has changed in a stream table's sources since its frontier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pgstream.capture.count_changes import count_changes
from pgstream.catalog.records import Mode, StreamTable
from pgstream.database.connection import Connection


@dataclass(frozen=True)
class SourceChanges:
    """Per source relid: how many changes are committed, how many pending; who was truncated."""

    committed: Mapping[int, int] = field(default_factory=dict)
    pending: Mapping[int, int] = field(default_factory=dict)
    truncated: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        return sum(self.committed.values()) + sum(self.pending.values())

    @property
    def nothing(self) -> bool:
        return not (self.total or self.truncated or self.unknown)


def find_changes(
    reader: Connection, table: StreamTable, pending: Mapping[int, int]
) -> SourceChanges:
    """In FULL mode nothing is captured; only what this cycle does to a source is known."""
    committed: dict[int, int] = {}
    truncated: list[str] = []
    unknown: list[str] = []
    captured = () if table.refresh_mode is Mode.FULL else table.dependencies
    for source in captured:
        frontier = table.frontier_of(source.relid)
        name = f"{source.schema}.{source.name}"
        if frontier is None:
            unknown.append(name)
            continue
        counted = count_changes(reader, source.relid, frontier)
        if counted.rows:
            committed[source.relid] = counted.rows
        if counted.is_truncated:
            truncated.append(name)
    relids = {source.relid for source in table.dependencies}
    here = {relid: n for relid, n in pending.items() if relid in relids and n}
    return SourceChanges(committed, here, tuple(truncated), tuple(unknown))
