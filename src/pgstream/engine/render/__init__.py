"""Renders an operator tree to Spark SQL: one file per operator, one table of them all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pgstream.algebra.operators.accumulate import Accumulate
from pgstream.algebra.operators.aggregate import Aggregate
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.keys import KeyFilter, Keys
from pgstream.algebra.operators.negate import Consolidate, Negate
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.one_row import OneRow
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.row_id import RowId
from pgstream.algebra.operators.shared import Shared
from pgstream.algebra.operators.union_all import UnionAll
from pgstream.algebra.operators.weigh import Weigh
from pgstream.algebra.operators.window import Window
from pgstream.engine.relation import Relation
from pgstream.engine.render.accumulate import accumulate
from pgstream.engine.render.aggregate import aggregate
from pgstream.engine.render.filter import filter_
from pgstream.engine.render.join import join
from pgstream.engine.render.keys import are_few, key_filter, keys, listed_keys
from pgstream.engine.render.negate import consolidate, negate
from pgstream.engine.render.one_row import one_row
from pgstream.engine.render.outer_join import outer_join
from pgstream.engine.render.project import project
from pgstream.engine.render.row_id import row_id
from pgstream.engine.render.shared import shared
from pgstream.engine.render.union_all import union_all
from pgstream.engine.render.weigh import weigh
from pgstream.engine.render.window import window

RENDERERS: dict[type[Node], Callable[..., Relation]] = {
    Accumulate: accumulate,
    Aggregate: aggregate,
    Consolidate: consolidate,
    Filter: filter_,
    Join: join,
    KeyFilter: key_filter,
    Keys: keys,
    Negate: negate,
    OneRow: one_row,
    OuterJoin: outer_join,
    Project: project,
    RowId: row_id,
    Shared: shared,
    UnionAll: union_all,
    Weigh: weigh,
    Window: window,
}

Leaf = Callable[[Node], Relation | None]
IsEmpty = Callable[[Node], bool]

# In a single-task plan both sides of a join are one partition each: no exchange, no sort.
# A join forgets that it is one partition, a union has as many as it has terms.
SINGLE_TASK_HINTS: dict[type[Node], str] = {
    Join: "COALESCE(1), SHUFFLE_HASH(r)",
    OuterJoin: "COALESCE(1), SHUFFLE_HASH(r)",
    KeyFilter: "COALESCE(1), SHUFFLE_HASH(k)",
    UnionAll: "COALESCE(1)",
}


def render(node: Node, leaf: Leaf, is_empty: IsEmpty, single_task: bool = False) -> Relation:
    """The tree as one SELECT; `leaf` gives the relations that are already bound."""
    bound = leaf(node)
    if bound is not None:
        return bound
    read = node.inputs
    if isinstance(node, UnionAll):
        read = tuple(term for term in read if not is_empty(term)) or read[:1]
        if len(read) == 1:
            return render(read[0], leaf, is_empty, single_task)
    inputs: list[Any] = [render(child, leaf, is_empty, single_task) for child in read]
    if isinstance(node, KeyFilter):
        among = render(node.keys, leaf, is_empty, single_task)
        if among.rows is not None and are_few(among.rows):
            return listed_keys(node, inputs[0], among.rows)
        inputs.append(among)
    relation = RENDERERS[type(node)](node, *inputs)
    return _in_one_task(node, relation) if single_task else relation


def _in_one_task(node: Node, relation: Relation) -> Relation:
    hint = SINGLE_TASK_HINTS.get(type(node))
    return relation.hinted(hint) if hint else relation
