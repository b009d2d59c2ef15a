"""The frontier: a snapshot in which the cycle's own transaction counts as seen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgstream.refresh.snapshot import without


def seen(snapshot: str, xid: int) -> bool:
    """pg_visible_in_snapshot, for transactions that have committed."""
    xmin, xmax, listed = snapshot.split(":")
    running = {int(x) for x in listed.split(",") if x}
    return xid < int(xmin) or (xid < int(xmax) and xid not in running)


@pytest.mark.parametrize(
    ("snapshot", "xid", "expected"),
    [
        ("10:20:10,15", 10, "15:20:15"),
        ("10:20:10", 10, "20:20:"),
        ("20:20:", 20, "21:21:"),
        ("10:20:10", 22, "10:23:10,20,21"),
    ],
)
def test_one_running_transaction_counts_as_seen(snapshot, xid, expected):
    assert without(snapshot, xid) == expected


@given(st.sets(st.integers(1, 40), max_size=8), st.integers(1, 40), st.integers(1, 45))
def test_only_that_transaction_changes_sides(running, xmax, own):
    running = {x for x in running if x < xmax}
    if own < xmax:
        running.add(own)
    xmin = min(running, default=xmax)
    before = f"{xmin}:{xmax}:{','.join(map(str, sorted(running)))}"
    after = without(before, own)
    assert seen(after, own)
    for xid in range(1, 60):
        if xid != own:
            assert seen(after, xid) == seen(before, xid)
