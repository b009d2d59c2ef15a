"""restrict: A ⋉ K without reading A.

    restrict(A, c, K) = A ⋉ K on the columns c

The key set goes down the tree. At a stored table it becomes a lookup; at a join the rows
found on one side give the keys for the other, so that a chain of joins is a chain of
lookups. Where a key cannot go down, the relation below is read and filtered: the
`KeyFilter` that stays is what `explain_st` reports.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgstream.algebra.expressions import plain_column
from pgstream.algebra.operators.aggregate import Aggregate
from pgstream.algebra.operators.by_postgres import ByPostgres
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.keys import KeyFilter, Keys, Lookup
from pgstream.algebra.operators.negate import Consolidate, Negate
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.scan import Stored
from pgstream.algebra.operators.shared import Shared
from pgstream.algebra.operators.union_all import UnionAll
from pgstream.algebra.operators.weigh import Weigh
from pgstream.algebra.operators.window import Window


def restrict(node: Node, indexes: tuple[int, ...], keys: Keys) -> Node:
    match node:
        case Stored():
            return Lookup(node, indexes, keys)
        case Filter(input, predicate):
            return Filter(restrict(input, indexes, keys), predicate)
        case Weigh(input, count):
            return Weigh(restrict(input, indexes, keys), count)
        case Negate(input):
            return Negate(restrict(input, indexes, keys))
        case Consolidate(input):
            return Consolidate(restrict(input, indexes, keys))
        case UnionAll(terms):
            return UnionAll(tuple(restrict(term, indexes, keys) for term in terms))
        case Shared(input):
            return restrict(input, indexes, keys)
        case Project(input, expressions):
            origins = [plain_column(expression) for expression in expressions]
            return through_kept(node, input, origins, indexes, keys)
        case Aggregate(input, own):
            return through_kept(node, input, own + (None,) * len(node.calls), indexes, keys)
        case Window(input, own):
            return through_kept(node, input, only(own, len(node.columns)), indexes, keys)
        case ByPostgres(input, origins=kept, keys=own):
            origins = [o if own is None or o in own else None for o in kept]
            return through_kept(node, input, origins, indexes, keys)
        case Join():
            return through_join(node, indexes, keys)
        case OuterJoin():
            return through_outer_join(node, indexes, keys)
        case _:
            return KeyFilter(node, indexes, keys)


def only(keys: tuple[int, ...], width: int) -> list[int | None]:
    """The columns that are keys, each at its own place."""
    return [i if i in keys else None for i in range(width)]


def through_kept(
    node: Node, inner: Node, origins: Sequence[int | None], indexes: tuple[int, ...], keys: Keys
) -> Node:
    """Keys on columns that are the input's go down to it; the others are checked above."""
    below = [origins[i] for i in indexes]
    places = tuple(p for p, column in enumerate(below) if column is not None)
    if not places:
        return KeyFilter(node, indexes, keys)
    columns = tuple(column for column in below if column is not None)
    narrowed = node.with_inputs(restrict(inner, columns, keys.pick(places)))
    return narrowed if len(places) == len(indexes) else KeyFilter(narrowed, indexes, keys)


def through_join(node: Join, indexes: tuple[int, ...], keys: Keys) -> Node:
    """To the side that has the columns, then sideways to the other by the rows found."""
    width = len(node.left.columns)
    on_left = tuple(p for p, i in enumerate(indexes) if i < width)
    on_right = tuple(p for p, i in enumerate(indexes) if i >= width)
    if len(on_left) >= len(on_right):
        left = restrict(node.left, tuple(indexes[p] for p in on_left), keys.pick(on_left))
        right = sideways(node.right, node.right_keys, left, node.left_keys, node.nulls_match)
    else:
        columns = tuple(indexes[p] - width for p in on_right)
        right = restrict(node.right, columns, keys.pick(on_right))
        left = sideways(node.left, node.left_keys, right, node.right_keys, node.nulls_match)
    narrowed = node.with_inputs(left, right)
    return KeyFilter(narrowed, indexes, keys) if on_left and on_right else narrowed


def through_outer_join(node: OuterJoin, indexes: tuple[int, ...], keys: Keys) -> Node:
    """Like a join, as long as no row that is padded on the wanted columns is wanted.

    A padded column is NULL, so keys without NULL want rows that their side really has; LEFT
    never pads its left side. The key filter above drops what the narrowed join pads by itself.
    """
    width = len(node.left.columns)
    on_left = tuple(p for p, i in enumerate(indexes) if i < width)
    if not node.on or (keys.nulls and (node.keeps_right or not on_left)):
        return KeyFilter(node, indexes, keys)
    if on_left:
        left = restrict(node.left, tuple(indexes[p] for p in on_left), keys.pick(on_left))
        right = sideways(node.right, node.right_keys, left, node.left_keys, node.nulls_match)
    else:
        right = restrict(node.right, tuple(i - width for i in indexes), keys)
        left = sideways(node.left, node.left_keys, right, node.right_keys, node.nulls_match)
    narrowed = node.with_inputs(left, right)
    exact = len(on_left) == len(indexes) and not node.keeps_right
    return narrowed if exact else KeyFilter(narrowed, indexes, keys)


def sideways(
    node: Node,
    indexes: tuple[int, ...],
    found: Node,
    found_keys: tuple[int, ...],
    nulls: bool,
) -> Node:
    if not indexes:
        return node  # no equality to go by: the whole relation is read
    return restrict(node, indexes, Keys(found, found_keys, nulls))
