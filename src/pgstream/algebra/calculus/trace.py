"""trace: from which leaf columns a tree's columns come, unchanged.

The values found at the leaves hold all values that the tree can show in those columns, and
maybe more: filters and joins above are passed over. None if Spark must compute them; `computed`
then tells which relations it has to compute.
"""

from __future__ import annotations

from pgstream.algebra.operators.node import ColumnsOf, Keys, Node
from pgstream.algebra.operators.project import pick
from pgstream.algebra.operators.union_all import add


def trace(node: Node, indexes: tuple[int, ...]) -> list[ColumnsOf] | None:
    if node.is_at_hand:
        return [(node, indexes)]
    below = node.shown_by(indexes)
    if below is None:
        return None
    found: list[ColumnsOf] = []
    for part, columns in below:
        leaves = trace(part, columns)
        if leaves is None:
            return None
        found += leaves
    return found


def computed(node: Node, indexes: tuple[int, ...]) -> list[ColumnsOf]:
    """The relations that show the columns. Where the change of an operator is what it gives after
    less what it gave before, these two: the plan needs them again for the change itself."""
    below = node.shown_by(indexes) if node.only_arranges else None
    if below is None:
        return [(node, indexes)]
    found = [each for part, columns in below for each in computed(part, columns)]
    may_cancel = len(below) > 1 and any(part.is_signed for part, _ in found)
    return [(node, indexes)] if may_cancel else found


def gathered(found: list[ColumnsOf], keys: Keys) -> Keys:
    """The keys, taken from where they were found."""
    if len(found) == 1:
        return Keys(*found[0], keys.nulls)
    whole = add(*(pick(part, columns) for part, columns in found))
    assert whole is not None
    return Keys(whole, tuple(range(len(keys.indexes))), keys.nulls)
