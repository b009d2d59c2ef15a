"""Reads the tables of a document."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"


def rows(path: Path, *header: str) -> list[list[str]]:
    """The cells of the one table whose first columns have these titles."""
    found: list[list[list[str]]] = []
    for block in re.findall(r"(?:^\|.*\n)+", path.read_text(encoding="utf-8"), re.MULTILINE):
        titles, _, *body = [cells(line) for line in block.splitlines()]
        if tuple(titles[: len(header)]) == header:
            found.append(body)
    assert len(found) == 1, f"{path} has {len(found)} tables that start with {header}"
    return found[0]


def cells(line: str) -> list[str]:
    """The cells of a line; an escaped bar is none that separates."""
    return [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def names(cell: str) -> list[str]:
    """What stands in backticks."""
    return re.findall(r"`([^`]+)`", cell)
