"""cost: how many rows a refresh is expected to read, and how long that takes.

A pure function of a delta tree, of how many rows have changed, and of PostgreSQL's statistics.
Each operator tells how many rows it gives (`expected_rows`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Protocol

from pgstream.algebra.operators.join import Pairing
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.scan import Change, Lookup, Part, Stored

# Milliseconds; see docs/operations.md. What a table's own refreshes took corrects them.
FIXED = 100.0
FIXED_OF_EXECUTORS = 350.0
PER_ROW_IN_DRIVER = 0.013
PER_ROW_BY_EXECUTORS = 0.0008
PER_ROW_AGAIN = 0.0004
PER_CHANGE = 0.012
PER_ROW_GIVEN = 0.0013


class Statistics(Protocol):
    def rows(self, schema: str, table: str) -> float: ...

    def distinct(self, schema: str, table: str, columns: Sequence[str]) -> float:
        """How many different values the columns have together."""


Counts = Mapping[tuple[int, Part], float]
"""How many rows have changed, by relid and part."""


@dataclass(frozen=True)
class Cost:
    in_driver: float = 0.0
    """Rows of tables that pass through the driver: those looked up, and small tables."""
    by_executors: float = 0.0
    """Rows of tables and of changes that executors read."""
    again: float = 0.0
    """Rows that executors read once more, where a tree names a table twice, or compare in joins."""
    changes: float = 0.0
    given: float = 0.0
    """Rows that come out, and are compared with what is stored."""

    @property
    def rows(self) -> int:
        """Those that are read from tables."""
        return round(self.in_driver + self.by_executors)

    @property
    def ms(self) -> float:
        found = FIXED + self.in_driver * PER_ROW_IN_DRIVER + self.changes * PER_CHANGE
        found += self.given * PER_ROW_GIVEN
        if self.by_executors:
            found += FIXED_OF_EXECUTORS + self.by_executors * PER_ROW_BY_EXECUTORS
            found += self.again * PER_ROW_AGAIN
        return found


def cost_of(
    trees: Sequence[Node],
    counts: Counts,
    statistics: Statistics,
    most_rows: int,
    most_given: float = inf,
) -> Cost:
    """The driver reads each leaf once. A table is read whole where the keys are too many, see
    `Leaves`. Through many joins the error of the estimates grows, so the caller may know better
    how many rows come out at most."""
    expected = Expected(counts, statistics)
    changed, whole, looked_up = dict[Node, float](), dict[Node, float](), dict[Node, float]()
    read_for: dict[Node, Node] = {}
    for node in dict.fromkeys(node for tree in trees for node in tree.walk()):
        if isinstance(node, Change):
            changed[node] = expected.rows(node)
        elif isinstance(node, Stored):
            whole[node] = expected.rows(node)
        elif isinstance(node, Lookup):
            size, keys = expected.rows(node.stored.whole), expected.rows(node.keys)
            if keys > most_rows or (keys > 1000 and keys * 2 > size):
                whole[node.stored] = expected.rows(node.stored)
                read_for[node] = node.stored
            else:
                looked_up[node] = expected.rows(node)
    small, large = _parted(whole, most_rows)
    few, many = _parted(changed, most_rows)
    of_executors = large | many
    once = sum(of_executors.values())
    of_executors |= {node: large[table] for node, table in read_for.items() if table in large}
    return Cost(
        in_driver=sum(looked_up.values()) + sum(small.values()),
        by_executors=once,
        again=_by_name(trees, of_executors, expected) - once if once else 0.0,
        changes=sum(few.values()),
        given=min(sum(map(expected.rows, trees)), most_given),
    )


def _parted(
    sizes: Mapping[Node, float], most_rows: int
) -> tuple[dict[Node, float], dict[Node, float]]:
    """The relations that pass through the driver, and those that executors read."""
    small = {node: size for node, size in sizes.items() if size <= most_rows}
    return small, {node: size for node, size in sizes.items() if node not in small}


def _by_name(
    trees: Sequence[Node], of_executors: Mapping[Node, float], expected: Expected
) -> float:
    """How many rows executors read and join: what a tree names twice, they compute twice."""
    known: dict[Node, float] = {}

    def of(node: Node) -> float:
        if node not in known:
            below = sum(map(of, node.inputs))
            joined = sum(map(expected.rows, node.inputs)) if isinstance(node, Pairing) else 0.0
            known[node] = of_executors.get(node, 0.0) + below + (joined if below else 0.0)
        return known[node]

    return sum(map(of, trees))


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
