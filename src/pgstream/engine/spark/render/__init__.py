"""Renders an operator tree to Spark SQL: one file per operator, one table of them all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pgstream.algebra.operators.accumulate import Accumulate
from pgstream.algebra.operators.aggregate import Aggregate
from pgstream.algebra.operators.by_postgres import ByPostgres
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.first_rows import FirstKeys
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.key_filter import KeyFilter
from pgstream.algebra.operators.negate import Consolidate, Negate
from pgstream.algebra.operators.node import IsEmpty, Keys, Node
from pgstream.algebra.operators.one_row import OneRow
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.parameter import Parameter
from pgstream.algebra.operators.partners import Partners
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.ranges import Ranges
from pgstream.algebra.operators.row_id import RowId
from pgstream.algebra.operators.scan import Change, Lookup, Scan, Stored
from pgstream.algebra.operators.semi_join import SemiJoin
from pgstream.algebra.operators.shared import Shared
from pgstream.algebra.operators.table import OPERATORS
from pgstream.algebra.operators.union_all import UnionAll
from pgstream.algebra.operators.weigh import Weigh
from pgstream.algebra.operators.window import Window
from pgstream.algebra.operators.working import Working
from pgstream.engine.spark.relation import Relation
from pgstream.engine.spark.render.accumulate import accumulate
from pgstream.engine.spark.render.aggregate import aggregate
from pgstream.engine.spark.render.filter import filter_
from pgstream.engine.spark.render.join import join
from pgstream.engine.spark.render.key_filter import by_keys, keys
from pgstream.engine.spark.render.negate import consolidate, negate
from pgstream.engine.spark.render.one_row import one_row
from pgstream.engine.spark.render.outer_join import outer_join
from pgstream.engine.spark.render.project import project
from pgstream.engine.spark.render.row_id import row_id
from pgstream.engine.spark.render.semi_join import semi_join
from pgstream.engine.spark.render.shared import shared
from pgstream.engine.spark.render.union_all import union_all
from pgstream.engine.spark.render.weigh import weigh
from pgstream.engine.spark.render.window import window

# None: its rows are at hand before Spark runs, or it is replaced before.
RENDERERS: dict[type[Node], Callable[..., Relation] | None] = {
    Accumulate: accumulate,
    Aggregate: aggregate,
    ByPostgres: None,
    Change: None,
    Consolidate: consolidate,
    Filter: filter_,
    FirstKeys: None,
    Join: join,
    KeyFilter: by_keys,
    Keys: keys,
    Lookup: None,
    Negate: negate,
    OneRow: one_row,
    OuterJoin: outer_join,
    Parameter: None,
    Partners: None,
    Project: project,
    Ranges: None,
    RowId: row_id,
    Scan: None,
    SemiJoin: semi_join,
    Shared: shared,
    Stored: None,
    UnionAll: union_all,
    Weigh: weigh,
    Window: window,
    Working: None,
}
assert set(RENDERERS) == set(OPERATORS), "every operator says how Spark computes it"

Leaf = Callable[[Node], Relation | None]


def render(node: Node, leaf: Leaf, is_empty: IsEmpty, single_task: bool = False) -> Relation:
    """The tree as one SELECT; `leaf` gives the relations that are already bound."""
    bound = leaf(node)
    if bound is not None:
        return bound
    parts = [render(part, leaf, is_empty, single_task) for part in node.needed(is_empty)]
    renderer = RENDERERS[type(node)]
    assert renderer is not None, f"{node.describe()} is not at hand"
    relation = renderer(node, *parts)
    return relation.in_one_task() if single_task else replace(relation, single_task="")
