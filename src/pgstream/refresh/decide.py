"""Step 4: which action, and why. Nothing falls back without saying so.

A change of a few rows is never a full refresh. A larger one is, if the user's limit says so, or if
the differential refresh is expected to take longer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pgstream.catalog.records import Action, Mode, StreamTable
from pgstream.refresh.changes import SourceChanges
from pgstream.refresh.cost import Cost
from pgstream.refresh.expect import Expectation
from pgstream.settings import Settings

FEW_CHANGES = 100
Expect = Callable[[], Expectation | None]
"""What the refreshes would cost; None if nobody can tell."""


@dataclass(frozen=True, slots=True)
class Decision:
    action: Action
    reason: str
    expected: Cost | None = None

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
    expect: Expect,
) -> Decision:
    """`size` tells how many rows a source has, by relid."""
    if table.needs_reinit:
        reason = table.reinit_reason or "the definition of a source has changed"
        return Decision(Action.REINITIALIZE, reason)
    if not table.is_populated:
        return Decision(Action.FULL, "first population")
    if table.refresh_mode is Mode.FULL:
        return Decision(Action.FULL, "refresh mode is FULL")
    if full_asked:
        found = expect()
        return Decision(Action.FULL, "asked for", found.full if found else None)
    if changes.unknown:
        return Decision(Action.FULL, f"no frontier for {', '.join(changes.unknown)}")
    if changes.incomplete:
        names = ", ".join(changes.incomplete)
        return Decision(Action.REINITIALIZE, f"rows of {names} were written in another shape")
    if changes.overflown:
        names = ", ".join(changes.overflown)
        return Decision(Action.FULL, f"changes of {names} were dropped: buffer_limit")
    if changes.failures:
        return Decision(Action.FULL, f"not captured: {', '.join(changes.failures)}")
    if changes.truncated:
        return Decision(Action.FULL, f"TRUNCATE on {', '.join(changes.truncated)}")
    if changes.nothing:
        return Decision(Action.NO_DATA, "no changes")
    limit = settings.differential_max_change_ratio
    if limit == 0.0 or (limit < 1.0 and changes.total <= FEW_CHANGES):
        return Decision(Action.DIFFERENTIAL, f"{changes.total} changes")
    return _by_limit(table, changes, limit, size) or _by_cost(changes, expect())


def _by_limit(
    table: StreamTable, changes: SourceChanges, limit: float, size: Callable[[int], int]
) -> Decision | None:
    """FULL, if of a source more rows have changed than the user wants."""
    for source in table.dependencies:
        relid, name = source.relid, f"{source.schema}.{source.name}"
        count = changes.committed.get(relid, 0) + changes.pending.get(relid, 0)
        ratio = count / max(size(relid), 1)
        if count and (ratio > limit or limit == 1.0):
            return Decision(
                Action.FULL,
                f"{count} changes on {name}: ratio {ratio:.2f} exceeds "
                f"differential_max_change_ratio {limit}",
            )
    return None


def _by_cost(changes: SourceChanges, found: Expectation | None) -> Decision:
    if found is None:
        return Decision(Action.DIFFERENTIAL, f"{changes.total} changes")
    action = found.trial or found.best
    expected = found.full if action is Action.FULL else found.differential
    if action is Action.DIFFERENTIAL and not found.trial:
        return Decision(action, f"{changes.total} changes", expected)
    once = f", {action} tried once" if found.trial else ""
    return Decision(
        action,
        f"{changes.total:,} changes: {found.differential.rows:,} of {found.full.rows:,} rows"
        f" would be read, expected to take {found.times_full:.1f} times as long{once}",
        expected,
    )
