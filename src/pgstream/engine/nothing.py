"""nothing: which parts of a tree give no rows, known before Spark runs.

Where the change of one side is empty, whole branches of a delta are. Spark would find out too,
but only after it has analysed them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pgstream.algebra.operators.accumulate import Accumulate
from pgstream.algebra.operators.aggregate import Aggregate
from pgstream.algebra.operators.by_postgres import ByPostgres
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.keys import KeyFilter
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.one_row import OneRow
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.union_all import UnionAll


def parts_of(node: Node) -> Sequence[Node]:
    """What a node reads, the keys of a filter among it."""
    return (*node.inputs, node.keys) if isinstance(node, KeyFilter) else node.inputs


def gives_nothing(node: Node, is_empty: Callable[[Node], bool]) -> bool:
    """Whether the node gives no rows, given which of its inputs give none."""
    match node:
        case OneRow():
            return False
        case Join() | KeyFilter():
            return any(map(is_empty, parts_of(node)))
        case OuterJoin(left, right):
            return is_empty(left) and (not node.keeps_right or is_empty(right))
        case Aggregate() | Accumulate():
            return bool(node.keys) and is_empty(node.input)
        case ByPostgres():
            return node.keys != () and is_empty(node.input)
        case UnionAll():
            return all(map(is_empty, node.inputs))
    return bool(node.inputs) and all(map(is_empty, node.inputs))
