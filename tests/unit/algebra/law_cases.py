"""What the laws are tried on: a tree for each operator, random trees, random tables."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from hypothesis import strategies as st

from pgstream.algebra.expressions import Call, Expression, Literal, Ref
from pgstream.algebra.operators.aggregate import Aggregate, AggregateCall
from pgstream.algebra.operators.by_postgres import ByPostgres
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.node import Column, Node
from pgstream.algebra.operators.one_row import OneRow
from pgstream.algebra.operators.order import Order
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.project import Project, pick
from pgstream.algebra.operators.scan import Field, Scan, Source
from pgstream.algebra.operators.semi_join import SemiJoin
from pgstream.algebra.operators.shared import Shared
from pgstream.algebra.operators.union_all import UnionAll
from pgstream.algebra.operators.weigh import Weigh
from pgstream.algebra.operators.window import DEFAULT_FRAME, Window, WindowCall
from pgstream.algebra.types import BIGINT, BOOLEAN, INTEGER, NUMERIC

sys.path.insert(0, str(Path(__file__).parent))
from reference import Row, World, ZSet, minus, plus


def table(relid: int, *columns: str) -> Scan:
    """Of which each value is said to be there once, so that no rule is left out for fear of many
    rows. No rule may rely on it."""
    fields = tuple(Field(name, INTEGER, per_value=1.0) for name in columns)
    return Scan(Source(relid, "public", "_ab"[relid], is_stream=relid == 2), fields)


TABLES = {1: table(1, "k", "x"), 2: table(2, "k", "y")}
CONSTANTS = Project(OneRow(), (Literal("1", INTEGER), Literal(None, INTEGER)), ("p", "q"))

values = st.none() | st.integers(0, 3)
tables = st.dictionaries(st.tuples(values, values), st.integers(1, 2), max_size=4).map(Counter)


# --- stand-ins for PostgreSQL -----------------------------------------------------------------


def once_and_again(rows: ZSet) -> ZSet:
    """Like a function in FROM: each row with the numbers up to its first column; not for 0."""
    return plus(*(
        Counter({(*row, number): weight})
        for row, weight in rows.items() for number in range(row[0] or 0)
    ))  # fmt: skip


def grouped(rows: ZSet, keys: int) -> dict[Row, list[Row]]:
    groups: dict[Row, list[Row]] = {} if keys else {(): []}
    for row in rows.elements():
        groups.setdefault(row[:keys], []).append(row)
    return groups


def ordered_sum(rows: list[Row]) -> int:
    """Depends on all rows together, as an ordered aggregate does."""
    numbers = sorted(int(row[-1] or 0) for row in rows)
    return sum(i * number for i, number in enumerate(numbers, 1))


def per_key(rows: ZSet) -> ZSet:
    return Counter({(*key, ordered_sum(group)): 1 for key, group in grouped(rows, 1).items()})


def beside_each_row(rows: ZSet) -> ZSet:
    groups = grouped(rows, 1).values()
    return plus(*(Counter({(*row, ordered_sum(group)): 1}) for group in groups for row in group))


def in_all(rows: ZSet) -> ZSet:
    return Counter({(ordered_sum(group),): 1 for group in grouped(rows, 0).values()})


POSTGRES = {
    "once and again": once_and_again,
    "per key": per_key,
    "beside each row": beside_each_row,
    "in all": in_all,
}


# --- random trees -----------------------------------------------------------------------------


def ref(draw: st.DrawFn, node: Node) -> Ref:
    index = draw(st.integers(0, len(node.columns) - 1))
    return Ref(index, node.columns[index].type)


def predicate(draw: st.DrawFn, node: Node) -> Expression:
    form = draw(st.sampled_from(("=", "<", ">", "is null")))
    if form == "is null":
        return Call(form, (ref(draw, node),), BOOLEAN)
    other = draw(st.sampled_from((ref(draw, node), Literal("1", INTEGER))))
    return Call(form, (ref(draw, node), other), BOOLEAN)


def project(draw: st.DrawFn, node: Node) -> Node:
    """Two columns, plain or computed."""
    items: list[Expression] = [ref(draw, node), ref(draw, node)]
    if draw(st.booleans()):
        items[1] = Call("+", (items[1], Literal("1", INTEGER)), INTEGER)
    return Project(node, tuple(items), ("p", "q"))


def join(draw: st.DrawFn, left: Node, right: Node) -> Node:
    def column(node: Node) -> int:
        return draw(st.integers(0, len(node.columns) - 1))

    pairs = draw(st.integers(0, 2))
    on = tuple({(column(left), column(right)) for _ in range(pairs)})
    both = Join(left, right, on)
    condition = predicate(draw, both) if draw(st.booleans()) else None
    nulls_match = draw(st.booleans())
    kind = draw(st.sampled_from((Join, OuterJoin, SemiJoin)))
    if kind is Join:
        return Join(left, right, on, condition, nulls_match)
    return kind(left, right, on, condition, nulls_match, draw(st.booleans()))


def aggregate(draw: st.DrawFn, node: Node) -> Node:
    keys = tuple(range(draw(st.integers(0, 2))))[: len(node.columns)]
    column = draw(st.integers(0, len(node.columns) - 1))
    function = draw(st.sampled_from(("count", "sum", "avg", "min", "max")))
    calls = (AggregateCall("count", None, BIGINT), AggregateCall(function, column, NUMERIC))
    return Aggregate(node, keys, calls)


def window(draw: st.DrawFn, node: Node) -> Node:
    keys = tuple(range(draw(st.integers(0, 2))))[: len(node.columns)]
    order = (Order(ref(draw, node).index, descending=draw(st.booleans())),)
    number = WindowCall("row_number", (), None, order, DEFAULT_FRAME, BIGINT)
    largest = WindowCall("max", (ref(draw, node),), None, (), DEFAULT_FRAME, INTEGER)
    return project(draw, Window(node, keys, (number, largest)))


def by_postgres(node: Node, query: str) -> Node:
    """Row by row, per group, per group with all its rows, or for all rows together."""
    number, width = Column("n", INTEGER), len(node.columns)
    match query:
        case "once and again":
            columns, origins, keys = (*node.columns, number), (*range(width), None), None
        case "per key":
            columns, origins, keys = (node.columns[0], number), (0, None), (0,)
        case "beside each row":
            columns, origins, keys = (*node.columns, number), (*range(width), None), (0,)
        case _:
            columns, origins, keys = (number,), (None,), ()
    return ByPostgres(node, query, columns, origins, keys, query)


def tree_of(draw: st.DrawFn, form: str, depth: int) -> Node:
    inner = draw(trees(depth=depth))
    match form:
        case "filter":
            return Filter(inner, predicate(draw, inner))
        case "project":
            return project(draw, inner)
        case "join":
            return project(draw, join(draw, inner, draw(trees(depth=depth))))
        case "union":
            return UnionAll((project(draw, inner), project(draw, draw(trees(depth=depth)))))
        case "aggregate":
            return aggregate(draw, inner)
        case "weigh":
            return Weigh(inner, Literal("2", INTEGER))
        case "window":
            return window(draw, inner)
        case "shared":
            return Shared(inner, "cte")
        case "postgres":
            return by_postgres(inner, draw(st.sampled_from(list(POSTGRES))))
    raise AssertionError(form)


FORMS = ("filter", "project", "join", "union", "aggregate", "weigh", "window", "shared", "postgres")


@st.composite
def trees(draw: st.DrawFn, depth: int = 3) -> Node:
    form = draw(st.sampled_from(("leaf", *FORMS))) if depth else "leaf"
    if form == "leaf":
        return draw(st.sampled_from((*TABLES.values(), CONSTANTS)))
    return tree_of(draw, form, depth - 1)


# --- a tree for each operator -----------------------------------------------------------------

A, B = TABLES.values()
X = Ref(1, INTEGER)
COUNT = AggregateCall("count", None, BIGINT)
NUMBER = WindowCall("row_number", (), None, (Order(1),), DEFAULT_FRAME, BIGINT)
BY_K = WindowCall("row_number", (), None, (Order(1),), DEFAULT_FRAME, BIGINT)
THE_FIRST = Call("<=", (Ref(2, BIGINT), Literal("1", BIGINT)), BOOLEAN)
LARGEST = WindowCall("max", (X,), None, (), DEFAULT_FRAME, INTEGER)
LESS = Call("<", (X, Ref(3, INTEGER)), BOOLEAN)

CASES: tuple[Node, ...] = (
    A,
    UnionAll((A, CONSTANTS)),
    Filter(A, Call(">", (X, Literal("1", INTEGER)), BOOLEAN)),
    Project(A, (Call("+", (X, X), INTEGER), X), ("p", "q")),
    UnionAll((A, B)),
    Weigh(A, X),
    Aggregate(A, (0,), (COUNT, AggregateCall("max", 1, INTEGER))),
    Aggregate(A, (), (AggregateCall("sum", 1, BIGINT),)),
    Window(A, (0,), (NUMBER, LARGEST)),
    Window(A, (), (NUMBER,)),
    # Of which only the first rows are wanted.
    *(Filter(Window(pick(A, (1, 0)), keys, (BY_K,), 1), THE_FIRST) for keys in ((), (0,), (1,))),
    Join(Shared(Join(A, B, ((0, 0),)), "cte"), B, ((1, 1),)),
    *(
        Join(A, B, ((0, 0),), condition, nulls)
        for condition in (None, LESS)
        for nulls in (False, True)
    ),
    *(
        kind(A, B, on, condition, nulls, flag)
        for kind in (OuterJoin, SemiJoin)
        for on in ((), ((0, 0),))
        for condition in (None, LESS)
        for nulls in (False, True)
        for flag in (False, True)
    ),
    *(
        by_postgres(A, query)
        for query in ("once and again", "per key", "beside each row", "in all")
    ),
    # Weights of both signs pass through the left side, up to who must see rows that exist.
    *(
        Window(pick(kind(OuterJoin(A, B, ((0, 0),)), B, ((1, 1),)), (0, 1)), (0,), (NUMBER,))
        for kind in (OuterJoin, SemiJoin)
    ),
    # The right side is the distinct keys.
    # By a threshold for each key, which moves, comes and goes.
    SemiJoin(A, Aggregate(B, (0,), (AggregateCall("max", 1, INTEGER),)), ((0, 0),), LESS),
    SemiJoin(A, Aggregate(B, (1,), ()), ((0, 0),)),
    SemiJoin(A, Aggregate(B, (1,), ()), ((0, 0),), anti=True),
    # Several relations change: rows that more than one change leads to are there once.
    Join(Join(A, B, ((0, 0),)), A, ((3, 1),)),
    Join(Join(Join(A, B, ((0, 0),)), A, ((1, 0),)), B, ((1, 1),)),
    # The groups have a count, by which they are joined: its keys are checked above them.
    Join(Aggregate(A, (0,), (COUNT,)), pick(B, (0,)), ((1, 0),)),
)


# --- random tables ---------------------------------------------------------------------------


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Before, stored and after are tables each; the changes are the differences."""
    stored, committed, pending = {}, {}, {}
    for relid, scan in TABLES.items():
        before, now, after = draw(tables), draw(tables), draw(tables)
        stored[relid] = now
        committed[relid] = plus(now, minus(before)) if draw(st.booleans()) else Counter()
        has_pending = scan.source.is_stream and draw(st.booleans())
        pending[relid] = plus(after, minus(now)) if has_pending else Counter()
    return World(stored, committed, pending, POSTGRES)
