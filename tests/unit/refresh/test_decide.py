"""Which action, and why."""

from __future__ import annotations

from dataclasses import fields

import pytest

from pgstream.catalog.records import Action, Dependency, Mode, StreamTable
from pgstream.refresh.changes import SourceChanges
from pgstream.refresh.cost import FIXED, PER_ROW_IN_DRIVER, Cost
from pgstream.refresh.decide import FEW_CHANGES, Decision, decide
from pgstream.refresh.expect import Expectation
from pgstream.settings import Settings

ALL, NONE = frozenset(("DIFFERENTIAL", "FULL")), frozenset[str]()
CHEAP, DEAR = Cost(), Cost(in_driver=1_010_000)
SOURCE = Dependency(7, "public", "src", False, frozenset())


def table() -> StreamTable:
    values = dict.fromkeys(field.name for field in fields(StreamTable))
    known = {"refresh_mode": Mode.DIFFERENTIAL, "is_populated": True, "needs_reinit": False}
    return StreamTable(**{**values, **known, "dependencies": (SOURCE,), "views": ()})


def decided(
    changes: int,
    limit: float = 0.5,
    differential: Cost = CHEAP,
    full: Cost = CHEAP,
    measured: frozenset[str] = ALL,
) -> Decision:
    settings = Settings(differential_max_change_ratio=limit)
    found = Expectation(differential, full, measured=measured)
    return decide(
        table(), SourceChanges({7: changes}), settings, lambda _: 1_000_000, False, lambda: found
    )


def test_the_dearer_refresh_is_not_run() -> None:
    full = Cost(by_executors=1_000_000)
    decision = decided(10_000, differential=DEAR, full=full)
    assert decision.action is Action.FULL
    assert decision.reason.startswith("10,000 changes: 1,010,000 of 1,000,000 rows would be read")
    assert decision.expected is full
    other = decided(10_000, differential=CHEAP, full=full)
    assert (other.action, other.expected) == (Action.DIFFERENTIAL, CHEAP)


FULL_ONLY, DIFFERENTIAL_ONLY = frozenset(("FULL",)), frozenset(("DIFFERENTIAL",))


@pytest.mark.parametrize(
    ("times_full", "measured", "action", "is_trial"),
    [
        (1.5, NONE, Action.DIFFERENTIAL, True),
        (1.5, FULL_ONLY, Action.DIFFERENTIAL, True),
        (1.5, DIFFERENTIAL_ONLY, Action.FULL, False),
        (1.5, ALL, Action.FULL, False),
        (2.5, NONE, Action.FULL, False),
        (0.9, DIFFERENTIAL_ONLY, Action.FULL, True),
        (0.9, NONE, Action.DIFFERENTIAL, False),
        (0.9, ALL, Action.DIFFERENTIAL, False),
        (0.6, DIFFERENTIAL_ONLY, Action.DIFFERENTIAL, False),
    ],
)
def test_where_it_is_close_each_is_tried_once(
    times_full: float, measured: frozenset[str], action: Action, is_trial: bool
) -> None:
    full = Cost(by_executors=5_000_000)
    differential = Cost(in_driver=(times_full * full.ms - FIXED) / PER_ROW_IN_DRIVER)
    decision = decided(10_000, differential=differential, full=full, measured=measured)
    assert decision.action is action
    assert decision.reason.endswith(f", {action} tried once") is is_trial
    assert decision.expected is (full if action is Action.FULL else differential)


def test_no_trial_of_a_full_refresh_where_both_are_short() -> None:
    decision = decided(10_000, differential=CHEAP, full=CHEAP, measured=DIFFERENTIAL_ONLY)
    assert decision.action is Action.DIFFERENTIAL


def test_a_few_changes_are_never_full_and_cost_no_estimate() -> None:
    decision = decided(FEW_CHANGES, limit=0.000001, differential=DEAR)
    assert (decision.action, decision.expected) == (Action.DIFFERENTIAL, None)


@pytest.mark.parametrize(
    ("limit", "changes", "action"),
    [
        (0.0, 900_000, Action.DIFFERENTIAL),
        (0.5, 900_000, Action.FULL),
        (0.95, 900_000, Action.DIFFERENTIAL),
        (1.0, 1, Action.FULL),
    ],
)
def test_the_users_limit_rules(limit: float, changes: int, action: Action) -> None:
    decision = decided(changes, limit)
    assert decision.action is action
    assert ("differential_max_change_ratio" in decision.reason) is (action is Action.FULL)


def test_without_a_limit_nothing_is_estimated() -> None:
    assert decided(10_000, limit=0.0, differential=DEAR).action is Action.DIFFERENTIAL


def test_changes_that_were_dropped_lead_to_a_full_refresh_that_says_so() -> None:
    changes = SourceChanges({7: 1}, overflown=("public.src",))
    decision = decide(table(), changes, Settings(), lambda _: 1, False, lambda: None)
    assert decision == Decision(Action.FULL, "changes of public.src were dropped: buffer_limit")
    assert not SourceChanges(overflown=("public.src",)).nothing
