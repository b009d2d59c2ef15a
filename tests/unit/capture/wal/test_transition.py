"""How long a transition to the WAL rests."""

from __future__ import annotations

import pytest

from pgstream.capture.wal.transition import State

TIMEOUT = 300


@pytest.mark.parametrize(
    ("mode", "seconds", "rest"),
    [
        ("TRIGGER", None, 0),  # never begun
        ("TRIGGER", 1, 599),  # failed
        ("TRIGGER", 301, 299),
        ("TRIGGER", 601, 0),
        ("TRANSITIONING", None, 1),
        ("TRANSITIONING", 0.5, 1),
        ("TRANSITIONING", 2, 2),
        ("TRANSITIONING", 64, 64),
        ("TRANSITIONING", 200, 100),  # not past its time
        ("TRANSITIONING", 299.5, 1),
        ("TRANSITIONING", 400, 1),
    ],
)
def test_rest(mode: str, seconds: float | None, rest: float) -> None:
    assert State(mode, seconds, True).rest(TIMEOUT) == rest
