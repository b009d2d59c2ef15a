"""cost: how many rows a refresh is expected to read, and how long that takes.

A pure function of a delta tree, of how many rows have changed, and of PostgreSQL's statistics.
Each operator tells how many rows it gives (`expected_rows`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.scan import Change, Lookup, Part, Scan, Stored

# Milliseconds; see docs/operations.md. What a table's own refreshes took corrects them.
FIXED = 100.0
PER_ROW_BY_KEY = 0.012
PER_ROW_OF_WHOLE_TABLES = 0.003
PER_CHANGE = 0.010


class Statistics(Protocol):
    def rows(self, schema: str, table: str) -> float: ...

    def distinct(self, schema: str, table: str, columns: Sequence[str]) -> float:
        """How many different values the columns have together."""


Counts = Mapping[tuple[int, Part], float]
"""How many rows have changed, by relid and part."""


@dataclass(frozen=True)
class Cost:
    by_key: float = 0.0
    whole: float = 0.0
    changes: float = 0.0

    @property
    def rows(self) -> int:
        """Those that are read from tables."""
        return round(self.by_key + self.whole)

    @property
    def ms(self) -> float:
        read = self.by_key * PER_ROW_BY_KEY + self.whole * PER_ROW_OF_WHOLE_TABLES
        return FIXED + read + self.changes * PER_CHANGE


def cost_of(trees: Iterable[Node], counts: Counts, statistics: Statistics, most_keys: int) -> Cost:
    """Each leaf is read once. A table is read whole where the keys are too many, see `Leaves`."""
    expected = Expected(counts, statistics)
    whole: dict[Scan, float] = {}
    by_key = changes = 0.0
    for node in dict.fromkeys(node for tree in trees for node in tree.walk()):
        if isinstance(node, Change):
            changes += expected.rows(node)
        elif isinstance(node, Stored):
            whole[node.scan] = expected.rows(node)
        elif isinstance(node, Lookup):
            size, keys = expected.rows(node.stored), expected.rows(node.keys)
            if keys > most_keys or (keys > 1000 and keys * 2 > size):
                whole[node.stored.scan] = size
            else:
                by_key += expected.rows(node)
    return Cost(by_key, sum(whole.values()), changes)


@dataclass
class Expected:
    """What the nodes of one tree are expected to give, each asked once."""

    counts: Counts
    statistics: Statistics
    _rows: dict[Node, float] = field(default_factory=dict)
    _distinct: dict[tuple[Node, tuple[int, ...]], float] = field(default_factory=dict)

    def rows(self, node: Node) -> float:
        if node not in self._rows:
            self._rows[node] = node.expected_rows(self)
        return self._rows[node]

    def distinct(self, node: Node, indexes: tuple[int, ...]) -> float:
        asked = node, indexes
        if asked not in self._distinct:
            found = node.expected_values(indexes, self) if indexes else 1.0
            self._distinct[asked] = max(min(found, self.rows(node)), 1.0)
        return self._distinct[asked]

    def changed(self, relid: int, part: str) -> float:
        return self.counts.get((relid, Part(part)), 0)

    def stored(self, schema: str, table: str) -> float:
        return self.statistics.rows(schema, table)

    def stored_values(self, schema: str, table: str, columns: Sequence[str]) -> float:
        return max(self.statistics.distinct(schema, table, columns), 1.0)
