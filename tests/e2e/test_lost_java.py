"""Java is killed or runs out of memory: an error of our own at once, and the next refresh is
exact."""

from __future__ import annotations

from apart import run_apart


def test_java_is_killed_in_each_step(database: str) -> None:
    run_apart("kills.py", database, "each_step")


def test_java_dies_within_actions(database: str) -> None:
    run_apart("kills.py", database, "within_actions")


def test_every_face_goes_on(database: str) -> None:
    run_apart("kills.py", database, "given", "under_a_worker", "on_the_command_line")
