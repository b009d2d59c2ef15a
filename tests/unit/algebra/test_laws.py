"""The laws of the calculus, on a tree for each operator and on random trees, with random data,
without Spark and PostgreSQL.

1. apply(Q(before), ΔQ) = Q(after)
2. restrict(Q, K) = Q ⋉ K
3. one change in two refreshes gives the same as in one
4. trace finds all values that a column can show, and maybe more
5. what is said to give nothing gives nothing
6. accumulators of A + Δ are those of A plus those of Δ; groups read again are those of A after
7. a recursive term applied to rows is the term over these rows
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgstream.algebra.calculus.differentiate import Differential, differentiate
from pgstream.algebra.calculus.narrow import narrow
from pgstream.algebra.calculus.recursion import Recursion
from pgstream.algebra.calculus.restrict import restrict
from pgstream.algebra.calculus.trace import computed, trace
from pgstream.algebra.expressions import Ref
from pgstream.algebra.operators.aggregate import Aggregate, AggregateCall
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.key_filter import KeyFilter
from pgstream.algebra.operators.node import Keys, Node
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.parameter import Parameter
from pgstream.algebra.operators.project import Project, pick
from pgstream.algebra.operators.scan import Part, Source
from pgstream.algebra.operators.semi_join import SemiJoin
from pgstream.algebra.operators.table import OPERATORS
from pgstream.algebra.operators.working import Working
from pgstream.algebra.plan import Plan, plan
from pgstream.algebra.types import BIGINT

sys.path.insert(0, str(Path(__file__).parent))
from law_cases import CASES, POSTGRES, TABLES, A, B, tables, trees, worlds
from reference import Row, World, ZSet, evaluate, minus, plus

TREES = st.sampled_from(CASES) | trees()


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
@given(tree=TREES, world=worlds())
def test_the_change_leads_from_before_to_after(tree: Node, world: World) -> None:
    before = evaluate(tree, world, world.before)
    after = evaluate(tree, world, world.after)
    assert plus(before, change_of(tree, world)) == after


@settings(max_examples=200, deadline=None)
@given(tree=TREES, world=worlds())
def test_the_states_are_before_and_after(tree: Node, world: World) -> None:
    state = Differential(changed(world))
    assert plus(evaluate(state.before(tree), world)) == evaluate(tree, world, world.before)
    assert plus(evaluate(state.after(tree), world)) == evaluate(tree, world, world.after)


@settings(max_examples=400, deadline=None)
@given(tree=TREES, world=worlds(), nulls=st.booleans(), data=st.data())
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
@given(tree=TREES, first=st.tuples(tables, tables), middle=st.tuples(tables, tables),
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
@given(tree=TREES, world=worlds(), data=st.data())
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


@settings(max_examples=200, deadline=None)
@given(tree=TREES, world=worlds(), data=st.data())
def test_narrow_finds_all_values(tree: Node, world: World, data: st.DataObject) -> None:
    """And those of fewer columns are those of more, and maybe others: keys by several columns are
    looked up by some of them."""
    delta = differentiate(tree, changed(world))
    if delta is None:
        return
    width = len(tree.columns)
    indexes = tuple(data.draw(st.lists(st.integers(0, width - 1), min_size=1, max_size=3)))
    found, fewer = (narrowed_values(delta, each, world) for each in (indexes, indexes[:1]))
    assert found is None or values_of(delta, indexes, world) <= found
    if found is not None and fewer is not None:
        assert {row[:1] for row in found} <= fewer


def narrowed_values(node: Node, indexes: tuple[int, ...], world: World) -> set[Row] | None:
    leaves = narrow(node, indexes)
    if leaves is None:
        return None
    found: set[Row] = set()
    for leaf in leaves:
        rows = leaf.node
        for columns, keys in leaf.by:
            rows = KeyFilter(rows, columns, keys)
        found |= values_of(rows, leaf.columns, world)
    return found


def values_of(node: Node, indexes: tuple[int, ...], world: World) -> set[Row]:
    return {tuple(row[i] for i in indexes) for row in evaluate(node, world)}


@settings(max_examples=200, deadline=None)
@given(tree=TREES, world=worlds())
def test_what_is_said_to_give_nothing_gives_nothing(tree: Node, world: World) -> None:
    def is_empty(node: Node) -> bool:
        is_leaf = not node.inputs
        return not evaluate(node, world) if is_leaf else node.gives_nothing(is_empty)

    delta = differentiate(tree, changed(world))
    for node in delta.walk() if delta else ():
        if is_empty(node):
            assert not evaluate(node, world)


# --- accumulators -------------------------------------------------------------------------------

SUMS = Aggregate(A, (0,), (AggregateCall("count", None, BIGINT), AggregateCall("sum", 1, BIGINT)))
ACCUMULATED: Plan = plan(Project(SUMS, (Ref(2, BIGINT),), ("total",)))


def accumulators(state: World, tree: Node) -> dict[Row, Row]:
    """Per group n, nn and sum; the tree ends in a row id."""
    return {row[:1]: row[1:-1] for row in evaluate(tree, state)}


@settings(max_examples=100, deadline=None)
@given(world=worlds())
def test_accumulators_add_up(world: World) -> None:
    whole = {relid: Counter() for relid in TABLES}
    states = [World({r: at(r) for r in TABLES}, whole, whole) for at in (world.before, world.after)]
    before, after = (accumulators(state, ACCUMULATED.full({}, None)) for state in states)
    delta = ACCUMULATED.change(changed(world))
    change = {} if delta is None else accumulators(world, delta)
    zeros = (0, 0, 0)
    for group in {*before, *after, *change}:
        sums = zip(before.get(group, zeros), change.get(group, zeros), strict=True)
        assert tuple(a + b for a, b in sums) == after.get(group, zeros)


@settings(max_examples=100, deadline=None)
@given(world=worlds(), groups=st.sets(st.none() | st.integers(0, 3)))
def test_groups_read_again_are_those_of_the_state_after(
    world: World, groups: set[int | None]
) -> None:
    assert ACCUMULATED.accumulated is not None
    touched = Parameter("touched groups", ACCUMULATED.accumulated.key_columns)
    given_ = world.with_parameter(touched.name, Counter({(group,): 1 for group in groups}))
    again = accumulators(given_, ACCUMULATED.accumulated.again(changed(world), touched))
    every = accumulators(world, ACCUMULATED.full(changed(world), None))
    assert again == {key: sums for key, sums in every.items() if key[0] in groups}


# --- recursion ----------------------------------------------------------------------------------

WORKING = Working("t", A.columns)
STEPS = (
    pick(Join(WORKING, B, ((1, 0),)), (0, 3)),
    pick(OuterJoin(WORKING, B, ((1, 0),)), (0, 3)),
    pick(OuterJoin(WORKING, B, ((1, 0),), nulls_match=True), (0, 3)),
    SemiJoin(WORKING, B, ((1, 0),)),
    SemiJoin(WORKING, B, ((1, 0),), anti=True),
)


@pytest.mark.parametrize("step", STEPS)
@settings(max_examples=60, deadline=None)
@given(world=worlds(), rows=tables, at_end=st.booleans())
def test_a_recursive_term_is_applied_to_rows(
    step: Node, world: World, rows: ZSet, at_end: bool
) -> None:
    source = Source(-1, "pgstream_state", "t", True)
    recursion = Recursion("t", source, A.fields, A, step, 1, (0, 1))
    found = Parameter("found", A.columns)
    given_ = world.with_parameter("found", rows).with_parameter("t", rows)
    made = evaluate(recursion.applied(found, changed(world), at_end), given_)
    wanted = evaluate(step, given_, world.after if at_end else world.before)
    assert plus(*(Counter({row[:-1]: w}) for row, w in made.items())) == plus(wanted)


# --- all of it ----------------------------------------------------------------------------------


def test_every_operator_occurs_in_the_laws() -> None:
    everything = {relid: frozenset(Part) for relid in TABLES}
    deltas = [differentiate(tree, everything) for tree in CASES]
    deltas += [ACCUMULATED.change(everything)]
    rows = Parameter("found", A.columns)
    tried = [*CASES, *STEPS, restrict(CASES[0], (0,), Keys(rows, (0,)))]
    tried += [delta for delta in deltas if delta is not None]
    assert {type(node) for tree in tried for node in tree.walk()} == set(OPERATORS)
