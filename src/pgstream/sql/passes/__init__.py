"""The passes over a defining query, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable

from pgstream.sql.parse import Query
from pgstream.sql.passes.refuse import refuse

PASSES: tuple[Callable[[Query, str], Query], ...] = (
    refuse,  # first: later passes may rely on what it lets through
)


def run_passes(query: Query, text: str) -> Query:
    for one in PASSES:
        query = one(query, text)
    return query
