"""Where in the user's text a construct stands."""

from __future__ import annotations

import re
from typing import NamedTuple

from sqlglot import exp


class Position(NamedTuple):
    line: int
    column: int


def position_of_offset(text: str, offset: int) -> Position:
    before = text[:offset]
    return Position(before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1)


def position_of(text: str, node: exp.Expr, word: str | None = None) -> Position | None:
    """The position of `word` (a keyword of the construct) near the node, else of the node."""
    starts = [n.meta["start"] for n in node.walk() if "start" in n.meta]
    first = min(starts, default=None)
    if word is not None:
        found = [m.start() for m in re.finditer(rf"\b{word}\b", text, re.IGNORECASE)]
        if first is not None and found:
            return position_of_offset(text, min(found, key=lambda at: abs(at - first)))
        if found:
            return position_of_offset(text, found[0])
    return None if first is None or first >= len(text) else position_of_offset(text, first)


def position_of_word(text: str, word: str) -> Position | None:
    found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE)
    return position_of_offset(text, found.start()) if found else None
