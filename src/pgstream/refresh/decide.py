"""Step 4: which action, and why. Nothing falls back without saying so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pgstream.catalog.records import Action, Mode, StreamTable
from pgstream.refresh.changes import SourceChanges
from pgstream.settings import Settings


@dataclass(frozen=True, slots=True)
class Decision:
    action: Action
    reason: str

    @property
    def is_whole(self) -> bool:
        """From whole tables, not from changes."""
        return self.action is not Action.DIFFERENTIAL


def decide(
    table: StreamTable,
    changes: SourceChanges,
    settings: Settings,
    size: Callable[[int], int],
    full_asked: bool,
) -> Decision:
    """`size` tells how many rows a source has, by relid."""
    if table.needs_reinit:
        return Decision(Action.REINITIALIZE, "the definition of a source has changed")
    if not table.is_populated:
        return Decision(Action.FULL, "first population")
    if table.refresh_mode is Mode.FULL:
        return Decision(Action.FULL, "refresh mode is FULL")
    if full_asked:
        return Decision(Action.FULL, "asked for")
    if changes.unknown:
        return Decision(Action.FULL, f"no frontier for {', '.join(changes.unknown)}")
    if changes.truncated:
        return Decision(Action.FULL, f"TRUNCATE on {', '.join(changes.truncated)}")
    if changes.nothing:
        return Decision(Action.NO_DATA, "no changes")
    return _by_size(table, changes, settings, size)


def _by_size(
    table: StreamTable, changes: SourceChanges, settings: Settings, size: Callable[[int], int]
) -> Decision:
    limit = settings.differential_max_change_ratio
    names = {d.relid: f"{d.schema}.{d.name}" for d in table.dependencies}
    if limit:
        for relid, name in names.items():
            count = changes.committed.get(relid, 0) + changes.pending.get(relid, 0)
            ratio = count / max(size(relid), 1)
            if count and (ratio > limit or limit == 1.0):
                return Decision(
                    Action.FULL,
                    f"{count} changes on {name}: ratio {ratio:.2f} exceeds "
                    f"differential_max_change_ratio {limit}",
                )
    return Decision(Action.DIFFERENTIAL, f"{changes.total} changes")
