"""Where in the user's text a construct stands."""

from __future__ import annotations

import re
from typing import NamedTuple

from sqlglot import exp


class Place(NamedTuple):
    line: int
    column: int


def place_of_offset(text: str, offset: int) -> Place:
    before = text[:offset]
    return Place(before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1)


def place_of(text: str, node: exp.Expr, word: str | None = None) -> Place | None:
    """The place of `word` (a keyword of the construct) near the node, else of the node."""
    starts = [n.meta["start"] for n in node.walk() if "start" in n.meta]
    first = min(starts, default=None)
    if word is not None:
        found = [m.start() for m in re.finditer(rf"\b{word}\b", text, re.IGNORECASE)]
        if first is not None and found:
            return place_of_offset(text, min(found, key=lambda at: abs(at - first)))
        if found:
            return place_of_offset(text, found[0])
    return None if first is None or first >= len(text) else place_of_offset(text, first)


def place_of_word(text: str, word: str) -> Place | None:
    found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE)
    return place_of_offset(text, found.start()) if found else None
