"""The expressions that tests compare with PostgreSQL, as tests/e2e/expressions lists them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).parent / "e2e" / "expressions"
TABLES = (FOLDER / "tables.sql").read_text(encoding="utf-8")


def lines(name: str) -> list[str]:
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def of_two_tables(line: str) -> Iterator[str]:
    """`A + B | x y` is t.x + u.x and t.y + u.y."""
    expression, _, columns = line.rpartition(" | ")
    for column in columns.split():
        yield re.sub(r"\bB\b", f"u.{column}", re.sub(r"\bA\b", f"t.{column}", expression))


def query(expressions: list[str]) -> str:
    """One column for each, over all pairs of rows."""
    items = "".join(f", {text} AS c{i}" for i, text in enumerate(expressions))
    return f"SELECT t.id, u.id AS other{items} FROM t JOIN u ON u.k = t.k"


ON_SPARK = [expression for line in lines("spark") for expression in of_two_tables(line)]
ANYWHERE = {name: lines(name) for name in ("numbers", "text", "time", "others")}
