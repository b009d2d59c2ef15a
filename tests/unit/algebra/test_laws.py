"""The laws of the calculus, on random trees and random data, without Spark and PostgreSQL.

1. apply(Q(before), ΔQ) = Q(after)
2. restrict(Q, K) = Q ⋉ K
3. one change in two refreshes gives the same as in one
4. trace finds all values that a column can show, and maybe more
5. what is said to give nothing gives nothing
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from pgstream.algebra.calculus.differentiate import Differential, differentiate
from pgstream.algebra.calculus.restrict import restrict
from pgstream.algebra.calculus.trace import computed, trace
from pgstream.algebra.expressions import Call, Expression, Literal, Ref
from pgstream.algebra.operators.aggregate import Aggregate, AggregateCall
from pgstream.algebra.operators.by_postgres import ByPostgres
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.node import Column, Keys, Node
from pgstream.algebra.operators.one_row import OneRow
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.scan import Field, Part, Scan, Source
from pgstream.algebra.operators.shared import Shared
from pgstream.algebra.operators.union_all import UnionAll
from pgstream.algebra.operators.weigh import Weigh
from pgstream.algebra.operators.window import DEFAULT_FRAME, Order, Window, WindowCall
from pgstream.algebra.types import BIGINT, BOOLEAN, INTEGER, NUMERIC

sys.path.insert(0, str(Path(__file__).parent))
from reference import Row, World, ZSet, evaluate, minus, plus

TABLES = {
    1: Scan(Source(1, "public", "a", False), (Field("k", INTEGER), Field("x", INTEGER))),
    2: Scan(Source(2, "public", "b", True), (Field("k", INTEGER), Field("y", INTEGER))),
}
CONSTANTS = Project(OneRow(), (Literal("1", INTEGER), Literal(None, INTEGER)), ("p", "q"))

values = st.none() | st.integers(0, 3)
tables = st.dictionaries(st.tuples(values, values), st.integers(1, 2), max_size=4).map(Counter)


# --- trees ----------------------------------------------------------------------------------


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
    if draw(st.booleans()):
        keeps_right = draw(st.booleans())
        return OuterJoin(left, right, on, condition, nulls_match, keeps_right)
    return Join(left, right, on, condition, nulls_match)


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


def by_postgres(draw: st.DrawFn, node: Node) -> Node:
    """Row by row, per group, per group with all its rows, or for all rows together."""
    first, number = node.columns[0], Column("n", INTEGER)
    width = len(node.columns)
    match draw(st.sampled_from(list(POSTGRES))):
        case "once and again" as query:
            columns, origins, keys = (*node.columns, number), (*range(width), None), None
        case "per key" as query:
            columns, origins, keys = (first, number), (0, None), (0,)
        case "beside each row" as query:
            columns, origins, keys = (*node.columns, number), (*range(width), None), (0,)
        case query:
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
            return by_postgres(draw, inner)
    raise AssertionError(form)


FORMS = ("filter", "project", "join", "union", "aggregate", "weigh", "window", "shared", "postgres")


@st.composite
def trees(draw: st.DrawFn, depth: int = 3) -> Node:
    form = draw(st.sampled_from(("leaf", *FORMS))) if depth else "leaf"
    if form == "leaf":
        return draw(st.sampled_from((*TABLES.values(), CONSTANTS)))
    return tree_of(draw, form, depth - 1)


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


def changed(world: World) -> dict[int, frozenset[Part]]:
    """Only what has changed is told; the rest must be pruned rightly."""
    found = {}
    for relid in TABLES:
        parts = [(Part.COMMITTED, world.committed), (Part.PENDING, world.pending)]
        here = frozenset(part for part, changes in parts if changes[relid])
        if here:
            found[relid] = here
    return found


def change_of(tree: Node, world: World) -> ZSet:
    delta = differentiate(tree, changed(world))
    return Counter() if delta is None else evaluate(delta, world)


# --- laws -----------------------------------------------------------------------------------


@settings(max_examples=400, deadline=None)
@given(tree=trees(), world=worlds())
def test_the_change_leads_from_before_to_after(tree: Node, world: World) -> None:
    before = evaluate(tree, world, world.before)
    after = evaluate(tree, world, world.after)
    assert plus(before, change_of(tree, world)) == after


@settings(max_examples=200, deadline=None)
@given(tree=trees(), world=worlds())
def test_the_states_are_before_and_after(tree: Node, world: World) -> None:
    state = Differential(changed(world))
    assert plus(evaluate(state.before(tree), world)) == evaluate(tree, world, world.before)
    assert plus(evaluate(state.after(tree), world)) == evaluate(tree, world, world.after)


@settings(max_examples=400, deadline=None)
@given(tree=trees(), world=worlds(), nulls=st.booleans(), data=st.data())
def test_restriction_is_a_semi_join(
    tree: Node, world: World, nulls: bool, data: st.DataObject
) -> None:
    width = len(tree.columns)
    indexes = tuple(data.draw(st.lists(st.integers(0, width - 1), min_size=1, max_size=2)))
    by = data.draw(st.sampled_from(list(TABLES.values())))
    state = Differential(changed(world))
    keys = Keys(state.after(by), tuple(range(len(indexes))), nulls)
    whole = state.after(tree)
    wanted = evaluate(keys, world)
    rows = plus(evaluate(whole, world))
    expected = {r: w for r, w in rows.items() if tuple(r[i] for i in indexes) in wanted}
    assert plus(evaluate(restrict(whole, indexes, keys), world)) == expected


@settings(max_examples=200, deadline=None)
@given(tree=trees(), first=st.tuples(tables, tables), middle=st.tuples(tables, tables),
       last=st.tuples(tables, tables))  # fmt: skip
def test_two_refreshes_give_what_one_gives(
    tree: Node,
    first: tuple[ZSet, ZSet],
    middle: tuple[ZSet, ZSet],
    last: tuple[ZSet, ZSet],
) -> None:
    def step(before: tuple[ZSet, ZSet], after: tuple[ZSet, ZSet]) -> World:
        stored = dict(zip(TABLES, after, strict=True))
        committed = {
            relid: plus(a, minus(b)) for relid, a, b in zip(TABLES, after, before, strict=True)
        }
        return World(stored, committed, {relid: Counter() for relid in TABLES}, POSTGRES)

    once = change_of(tree, step(first, last))
    twice = plus(change_of(tree, step(first, middle)), change_of(tree, step(middle, last)))
    assert plus(once) == twice


@settings(max_examples=200, deadline=None)
@given(tree=trees(), world=worlds(), data=st.data())
def test_trace_finds_all_values(tree: Node, world: World, data: st.DataObject) -> None:
    delta = differentiate(tree, changed(world))
    if delta is None:
        return
    width = len(tree.columns)
    indexes = tuple(data.draw(st.lists(st.integers(0, width - 1), min_size=1, max_size=2)))
    shown = values_of(delta, indexes, world)
    for places in (trace(delta, indexes), computed(delta, indexes)):
        if places is not None:
            found = [values_of(node, columns, world) for node, columns in places]
            assert shown <= set().union(*found)


def values_of(node: Node, indexes: tuple[int, ...], world: World) -> set[Row]:
    return {tuple(row[i] for i in indexes) for row in evaluate(node, world)}


@settings(max_examples=200, deadline=None)
@given(tree=trees(), world=worlds())
def test_what_is_said_to_give_nothing_gives_nothing(tree: Node, world: World) -> None:
    def is_empty(node: Node) -> bool:
        is_leaf = not node.inputs
        return not evaluate(node, world) if is_leaf else node.gives_nothing(is_empty)

    delta = differentiate(tree, changed(world))
    for node in delta.walk() if delta else ():
        if is_empty(node):
            assert not evaluate(node, world)
