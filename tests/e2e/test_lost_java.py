"""Java is killed or runs out of memory: an error of our own at once, and the next refresh is
exact."""

from __future__ import annotations

from apart import run_apart


def test_java_is_killed_in_each_step_and_within_actions(database: str) -> None:
    run_apart("kills.py", database)
