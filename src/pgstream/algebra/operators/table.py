"""All operators. Whoever adds one writes its line here, and one among the renderers."""

from __future__ import annotations

from pgstream.algebra.operators.accumulate import Accumulate
from pgstream.algebra.operators.aggregate import Aggregate
from pgstream.algebra.operators.by_postgres import ByPostgres
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.first_rows import FirstKeys
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.key_filter import KeyFilter
from pgstream.algebra.operators.negate import Consolidate, Negate
from pgstream.algebra.operators.node import Keys, Node
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
from pgstream.algebra.operators.union_all import UnionAll
from pgstream.algebra.operators.weigh import Weigh
from pgstream.algebra.operators.window import Window
from pgstream.algebra.operators.working import Working

OF_QUERIES: tuple[type[Node], ...] = (
    Aggregate,
    ByPostgres,
    Filter,
    Join,
    OneRow,
    OuterJoin,
    Project,
    Scan,
    SemiJoin,
    Shared,
    UnionAll,
    Weigh,
    Window,
    Working,
)
OF_DELTA_TREES: tuple[type[Node], ...] = (
    Accumulate,
    Change,
    Consolidate,
    FirstKeys,
    KeyFilter,
    Keys,
    Lookup,
    Negate,
    Parameter,
    Partners,
    Ranges,
    RowId,
    Stored,
)
OPERATORS = OF_QUERIES + OF_DELTA_TREES
