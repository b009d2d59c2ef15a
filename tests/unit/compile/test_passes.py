"""The way from text to plan is one list, and the documents show it as it is."""

from __future__ import annotations

from documents import ROOT, rows
from pgstream.compile.passes import PASSES


def test_passes_have_names_of_their_own_and_a_meaning() -> None:
    names = [each.name for each in PASSES]
    assert len(set(names)) == len(names)
    assert all(each.meaning and "\n" not in each.meaning for each in PASSES)


def test_the_architecture_lists_the_passes_in_their_order() -> None:
    listed = rows(ROOT / "ARCHITECTURE.md", "pass", "meaning")
    assert listed == [[each.name, each.meaning] for each in PASSES]
