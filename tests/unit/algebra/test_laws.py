"""The laws of the calculus, on random trees and random data, without Spark and PostgreSQL.

1. apply(Q(before), ΔQ) = Q(after)
2. restrict(Q, K) = Q ⋉ K
3. one change in two refreshes gives the same as in one
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from pgstream.algebra.differentiate import Differential, differentiate
from pgstream.algebra.expressions import Call, Expression, Literal, Ref
from pgstream.algebra.operators.aggregate import Aggregate, AggregateCall
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.keys import Keys
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.scan import Field, Part, Scan, Source
from pgstream.algebra.operators.union_all import UnionAll
from pgstream.algebra.operators.weigh import Weigh
from pgstream.algebra.restrict import restrict
from pgstream.algebra.types import BIGINT, BOOLEAN, INTEGER, NUMERIC

sys.path.insert(0, str(Path(__file__).parent))
from reference import World, ZSet, evaluate, minus, plus

TABLES = {
    1: Scan(Source(1, "public", "a", False), (Field("k", INTEGER), Field("x", INTEGER))),
    2: Scan(Source(2, "public", "b", True), (Field("k", INTEGER), Field("y", INTEGER))),
}

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
    if draw(st.booleans()):
        return OuterJoin(left, right, on, condition, draw(st.booleans()))
    return Join(left, right, on, condition)


def aggregate(draw: st.DrawFn, node: Node) -> Node:
    keys = tuple(range(draw(st.integers(0, 2))))[: len(node.columns)]
    column = draw(st.integers(0, len(node.columns) - 1))
    function = draw(st.sampled_from(("count", "sum", "avg", "min", "max")))
    calls = (AggregateCall("count", None, BIGINT), AggregateCall(function, column, NUMERIC))
    return Aggregate(node, keys, calls)


@st.composite
def trees(draw: st.DrawFn, depth: int = 3) -> Node:
    if depth == 0:
        return draw(st.sampled_from(list(TABLES.values())))
    inner = draw(trees(depth=depth - 1))
    form = draw(st.sampled_from(("scan", "filter", "project", "join", "union", "aggregate",
                                 "weigh")))  # fmt: skip
    match form:
        case "filter":
            return Filter(inner, predicate(draw, inner))
        case "project":
            return project(draw, inner)
        case "join":
            return project(draw, join(draw, inner, draw(trees(depth=depth - 1))))
        case "union":
            return UnionAll((project(draw, inner), project(draw, draw(trees(depth=depth - 1)))))
        case "aggregate":
            return aggregate(draw, inner)
        case "weigh":
            return Weigh(inner, Literal("2", INTEGER))
    return draw(st.sampled_from(list(TABLES.values())))


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
    return World(stored, committed, pending)


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
        return World(stored, committed, {relid: Counter() for relid in TABLES})

    once = change_of(tree, step(first, last))
    twice = plus(change_of(tree, step(first, middle)), change_of(tree, step(middle, last)))
    assert plus(once) == twice
