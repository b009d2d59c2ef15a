"""trace: from which leaf columns a tree's columns come, unchanged.

The values found at the leaves hold all values that the tree can show in those columns, and
maybe more: filters and joins above are passed over. None if Spark must compute them; `computed`
then tells which relations it has to compute.
"""

from __future__ import annotations

from pgstream.algebra.expressions import plain_column
from pgstream.algebra.operators.accumulate import Accumulate
from pgstream.algebra.operators.aggregate import Aggregate
from pgstream.algebra.operators.by_postgres import ByPostgres
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.keys import KeyFilter
from pgstream.algebra.operators.negate import Consolidate, Negate, is_signed
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.shared import Shared
from pgstream.algebra.operators.union_all import UnionAll
from pgstream.algebra.operators.weigh import Weigh
from pgstream.algebra.operators.window import Window

Places = list[tuple[Node, tuple[int, ...]]]


def trace(node: Node, indexes: tuple[int, ...]) -> Places | None:
    match node:
        case Filter(input=inner) | Negate(input=inner) | Consolidate(input=inner):
            return trace(inner, indexes)
        case KeyFilter(input=inner) | Weigh(input=inner):
            return trace(inner, indexes)
        case Project():
            below = [plain_column(node.expressions[i]) for i in indexes]
            columns = tuple(c for c in below if c is not None)
            return trace(node.input, columns) if len(columns) == len(below) else None
        case Aggregate(input=inner, keys=keys) | Accumulate(input=inner, keys=keys):
            if any(i >= len(keys) for i in indexes):
                return None
            return trace(inner, tuple(keys[i] for i in indexes))
        case UnionAll(terms=terms):
            found: Places = []
            for term in terms:
                places = trace(term, indexes)
                if places is None:
                    return None
                found += places
            return found
        case Join():
            width = len(node.left.columns)
            if all(i < width for i in indexes):
                return trace(node.left, indexes)
            if all(i >= width for i in indexes):
                return trace(node.right, tuple(i - width for i in indexes))
            return None
        case OuterJoin():
            # The left side of LEFT is never padded; a padded NULL has no leaf to come from.
            width = len(node.left.columns)
            if node.keeps_right or any(i >= width for i in indexes):
                return None
            return trace(node.left, indexes)
        case Window(input=inner) if all(i < len(inner.columns) for i in indexes):
            return trace(inner, indexes)
        case ByPostgres() | Shared():
            return [(node, indexes)]  # their rows are at hand before Spark runs
        case _ if not node.inputs:
            return [(node, indexes)]
        case _:
            return None


def computed(node: Node, indexes: tuple[int, ...]) -> Places:
    """The relations that show the columns. Where the change of an operator is what it gives after
    less what it gave before, these two: the plan needs them again for the change itself."""
    match node:
        case Negate(input=inner):
            return computed(inner, indexes)
        case Project():
            below = [plain_column(node.expressions[i]) for i in indexes]
            columns = tuple(c for c in below if c is not None)
            if len(columns) == len(below):
                return computed(node.input, columns)
        case UnionAll(terms=terms):
            found = [place for term in terms for place in computed(term, indexes)]
            if not any(is_signed(part) for part, _ in found):
                return found
    return [(node, indexes)]
