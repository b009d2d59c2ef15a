"""Every room has an end-to-end smoke test."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
BELOW = {"errors", "settings"}  # no smoke goes around these


def rooms() -> set[str]:
    entries = (ROOT / "src" / "pgstream").iterdir()
    names = {each.stem for each in entries if each.is_dir() or each.suffix == ".py"}
    return {name for name in names if not name.startswith("_")} - BELOW


def marked() -> set[str]:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "e2e").rglob("*.py")]
    found = [args for text in texts for args in re.findall(r"mark\.smoke\(([^)]*)\)", text)]
    return {name for args in found for name in re.findall(r'"(\w+)"', args)}


def test_every_room_has_a_smoke() -> None:
    assert rooms() <= marked()
