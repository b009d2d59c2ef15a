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
PER_ROW_BY_EXECUTORS = 0.0004
PER_ROW_AGAIN = 0.0002
PER_CHANGE = 0.007
PER_CHANGE_BY_EXECUTORS = 0.004
PER_ROW_GIVEN = 0.0008


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
    """Rows of tables that executors read."""
    again: float = 0.0
    """Rows that executors read once more, where a tree names a table twice, or compare in joins."""
    changes: float = 0.0
    """Rows of changes that pass through the driver."""
    changes_by_executors: float = 0.0
    """Those that executors read, as often as they are named: PostgreSQL nets them each time."""
    jobs: int = 0
    """How many trees executors compute."""
    given: float = 0.0
    """Rows that come out, and are compared with what is stored."""

    @property
    def rows(self) -> int:
        """Those that are read from tables."""
        return round(self.in_driver + self.by_executors)

    @property
    def ms(self) -> float:
        found = FIXED + self.in_driver * PER_ROW_IN_DRIVER + self.changes * PER_CHANGE
        found += self.given * PER_ROW_GIVEN + self.jobs * FIXED_OF_EXECUTORS
        found += self.by_executors * PER_ROW_BY_EXECUTORS + self.again * PER_ROW_AGAIN
        return found + self.changes_by_executors * PER_CHANGE_BY_EXECUTORS


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
    named = large | {node: large[table] for node, table in read_for.items() if table in large}
    once = sum(large.values())
    joined = _by_name(trees, named | dict.fromkeys(many, 0.0), expected)
    return Cost(
        in_driver=sum(looked_up.values()) + sum(small.values()),
        by_executors=once,
        again=max(joined - once, 0.0),
        changes=sum(few.values()),
        changes_by_executors=_by_name(trees, many, None),
        jobs=sum(any(node in named or node in many for node in tree.walk()) for tree in trees),
        given=min(sum(map(expected.rows, trees)), most_given),
    )


def _parted(
    sizes: Mapping[Node, float], most_rows: int
) -> tuple[dict[Node, float], dict[Node, float]]:
    """The relations that pass through the driver, and those that executors read."""
    small = {node: size for node, size in sizes.items() if size <= most_rows}
    return small, {node: size for node, size in sizes.items() if node not in small}


def _by_name(
    trees: Sequence[Node], of_executors: Mapping[Node, float], joins: Expected | None
) -> float:
    """How many rows executors read, and join if that counts: what a tree names twice, they compute
    twice."""
    known: dict[Node, tuple[float, bool]] = {}

    def of(node: Node) -> tuple[float, bool]:
        if node not in known:
            below = [of(each) for each in node.inputs]
            rows = of_executors.get(node, 0.0) + sum(found for found, _ in below)
            is_theirs = node in of_executors or any(theirs for _, theirs in below)
            if is_theirs and joins is not None and isinstance(node, Pairing):
                rows += sum(map(joins.rows, node.inputs))
            known[node] = rows, is_theirs
        return known[node]

    return sum(of(tree)[0] for tree in trees)


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
