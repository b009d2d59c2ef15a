"""sections: the parts of a file of SQL. A part begins at a line "-- <name>" of one word."""

from __future__ import annotations

import re
from importlib import resources

TABLES = "region nation supplier part partsupp customer orders lineitem".split()


def text_of(file: str) -> str:
    return resources.files("pgstream.bench.tpch").joinpath(file).read_text(encoding="utf-8")


def sections(file: str) -> dict[str, str]:
    parts = re.split(r"^-- (\w+)$", text_of(file), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def queries() -> dict[str, str]:
    """By name: q1 to q22."""
    return sections("queries.sql")
