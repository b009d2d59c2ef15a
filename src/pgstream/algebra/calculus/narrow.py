"""narrow: as trace, without rows at the leaves that have no partner in the joins above them.

    A ⋈ B on a = b shows of A only A ⋉ keys(B);  so does A ⋉ B

Where both sides are at hand, few partners lead to few keys for what is looked up next. More keys
than needed do no harm, so a join whose keys nobody knows yet is passed over.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pgstream.algebra.calculus.trace import trace
from pgstream.algebra.operators.node import Keys, Node


@dataclass(frozen=True)
class Narrowed:
    """Columns of a leaf, and among which keys others of its columns must be."""

    node: Node
    columns: tuple[int, ...]
    by: tuple[tuple[tuple[int, ...], Keys], ...] = ()

    def among(self, keys: Keys) -> Narrowed:
        """The last of its columns are asked for by these keys."""
        width = len(self.columns) - len(keys.columns)
        asked = (self.columns[width:], keys)
        by = self.by if asked in self.by else (*self.by, asked)
        return replace(self, columns=self.columns[:width], by=by)


def narrow(node: Node, indexes: tuple[int, ...]) -> list[Narrowed] | None:
    """None if Spark must compute the columns."""
    if node.is_at_hand:
        return [Narrowed(node, indexes)]
    below = node.shown_by(indexes)
    if below is None:
        return None
    found: list[Narrowed] = []
    asked = node.tested_by(indexes)
    for part, columns in below:
        wider = columns if asked is None else (*columns, *asked[0])
        is_seen = asked is not None and trace(part, wider) is not None
        leaves = narrow(part, wider if is_seen else columns)
        if leaves is None:
            return None
        found += [each.among(asked[1]) for each in leaves] if asked and is_seen else leaves
    return found
