"""The change of a join of several relations by two joins: exact, and as long as the query."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgstream.algebra.calculus.differentiate import Differential, differentiate
from pgstream.algebra.calculus.two_terms import two_terms
from pgstream.algebra.expressions import Call, Literal, Ref
from pgstream.algebra.operators.aggregate import Aggregate, AggregateCall
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.key_filter import KeyFilter
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.partners import Partners
from pgstream.algebra.operators.project import Project, pick
from pgstream.algebra.operators.scan import Lookup, Part, Scan
from pgstream.algebra.operators.semi_join import SemiJoin
from pgstream.algebra.types import BIGINT, BOOLEAN, INTEGER

sys.path.insert(0, str(Path(__file__).parents[1]))
from changed_worlds import COMMITTED, SCANS, difference, table, worlds
from reference import World, evaluate, plus

A, B, C, D = SCANS
FEW_C, FEW_D = replace(C, share=0.1), replace(D, share=0.01)
X = Ref(1, INTEGER)
LESS = Call("<", (X, Ref(3, INTEGER)), BOOLEAN)
POSITIVE = Call(">", (X, Literal("0", INTEGER)), BOOLEAN)
FIRST_TWO = Join(A, B, ((0, 0),))
FIRST_THREE = Join(FIRST_TWO, C, ((3, 0),))
COUNTED = Aggregate(B, (0,), (AggregateCall("count", None, BIGINT),))

JOINS: dict[str, Node] = {
    "chain of three": FIRST_THREE,
    "chain of four": Join(FIRST_THREE, D, ((5, 0),)),
    "chain, the last first": Join(D, FIRST_THREE, ((0, 5),)),
    "star of three": Join(Join(A, B, ((0, 0),)), C, ((1, 0),)),
    "star of four": Join(Join(Join(A, B, ((0, 0),)), C, ((1, 0),)), D, ((1, 1),)),
    "the middle is in the middle": Join(B, Join(A, C, ((1, 1),)), ((0, 0),)),
    "two and two": Join(Join(A, B, ((0, 0),)), Join(C, D, ((0, 0),)), ((1, 1),)),
    "circle": Join(FIRST_THREE, D, ((5, 0), (1, 1))),
    "two columns": Join(Join(A, B, ((0, 0), (1, 1))), C, ((0, 0), (3, 1))),
    "with itself": Join(Join(A, A, ((0, 1),)), A, ((2, 1),)),
    "with itself and another": Join(Join(A, B, ((0, 0),)), Join(A, C, ((0, 0),)), ((1, 1),)),
    "twice the same join": Join(Join(A, B, ((0, 0),)), Join(A, B, ((0, 0),)), ((1, 1),)),
    "star, few rows of one": Join(Join(Join(A, B, ((0, 0),)), FEW_C, ((1, 0),)), D, ((1, 1),)),
    "star, few rows of two": Join(Join(Join(A, B, ((0, 0),)), FEW_C, ((1, 0),)), FEW_D, ((0, 1),)),
    "chain, few rows of the last": Join(FIRST_THREE, FEW_D, ((5, 0),)),
    "chain, few rows before the last": Join(Join(FIRST_TWO, FEW_C, ((3, 0),)), D, ((5, 0),)),
    "two and two, few rows of two": Join(
        Join(A, FEW_C, ((0, 0),)), Join(B, FEW_D, ((0, 0),)), ((1, 1),)
    ),
    "few rows, where NULLs match": Join(
        Join(Join(A, B, ((0, 0),), None, True), FEW_C, ((1, 0),), None, True), D, ((1, 1),)
    ),
    "where NULLs match": Join(
        Join(A, B, ((0, 0),), None, True), C, ((3, 0),), None, nulls_match=True
    ),
    "some where NULLs match": Join(Join(A, B, ((0, 0),), None, True), C, ((1, 0),)),
    "with conditions": Join(Join(A, B, ((0, 0),), LESS), C, ((3, 0),), LESS),
    "over filters": Join(Join(Filter(A, POSITIVE), B, ((0, 0),)), Filter(C, POSITIVE), ((3, 0),)),
    "filters between": Join(Filter(Join(A, B, ((0, 0),)), LESS), C, ((1, 0),)),
    "projections between": Join(pick(Join(A, B, ((0, 0),)), (3, 0)), C, ((0, 0),)),
    "a computed column beside": Join(
        Project(Join(A, B, ((0, 0),)), (Ref(0, INTEGER), Call("+", (X, X), INTEGER)), ("k", "y")),
        C,
        ((0, 0),),
    ),
    "with groups": Join(Join(A, COUNTED, ((0, 0),)), C, ((1, 0),)),
    "with groups in the middle": Join(Join(COUNTED, A, ((0, 0),)), C, ((0, 0),)),
    "with an outer join": Join(Join(A, OuterJoin(B, D, ((1, 1),)), ((0, 0),)), C, ((1, 0),)),
    "with a semi-join": Join(Join(A, SemiJoin(B, D, ((1, 1),)), ((0, 0),)), C, ((1, 0),)),
    "without an equality": Join(Join(A, B, ()), C, ((1, 0),)),
    "by a computed column": Join(
        Project(Join(A, B, ((0, 0),)), (Call("+", (X, X), INTEGER),), ("y",)), C, ((0, 0),)
    ),
}
# What keeps them from two joins, when all relations change.
PLAIN = {
    "with groups in the middle": "nobody can tell which rows of the groups two lookups find",
    "without an equality": "nothing leads from A to B",
    "by a computed column": "nothing leads to C",
}


@pytest.mark.parametrize("name", JOINS)
@settings(max_examples=60, deadline=None)
@given(found=worlds())
def test_the_change_leads_from_before_to_after(
    name: str, found: tuple[World, dict[int, frozenset[Part]]]
) -> None:
    world, changed = found
    tree, change = JOINS[name], Differential(changed)
    wanted = difference(evaluate(tree, world, world.after), evaluate(tree, world, world.before))
    for delta in (change.delta(tree), two_terms(tree, change), tree.delta(change)):
        if delta is not None:
            assert plus(evaluate(delta, world)) == wanted
            assert partners_are_their_parts(delta, world)


@st.composite
def joins(draw: st.DrawFn) -> Node:
    """Three to five relations, some of them twice, of which few rows or many are expected."""
    shares, numbers = st.sampled_from((1.0, 0.1, 0.01)), st.sampled_from((1.0, 3.0, 30.0))

    def relation() -> Scan:
        scan = draw(st.sampled_from(SCANS))
        fields = [replace(field, per_value=draw(numbers)) for field in scan.fields]
        return replace(scan, fields=tuple(fields), share=draw(shares))

    def joined(tree: Node, other: Node) -> Node:
        pair = [draw(st.integers(0, len(side.columns) - 1)) for side in (tree, other)]
        sides = (tree, other) if draw(st.booleans()) else (other, tree)
        on = tuple(pair if sides[0] is tree else reversed(pair))
        return Join(*sides, ((on[0], on[1]),), nulls_match=draw(st.booleans()))

    relations = [relation() for _ in range(draw(st.integers(3, 5)))]
    return reduce(joined, relations)


@settings(max_examples=300, deadline=None)
@given(tree=joins(), found=worlds())
def test_the_change_of_any_join(
    tree: Node, found: tuple[World, dict[int, frozenset[Part]]]
) -> None:
    world, changed = found
    wanted = difference(evaluate(tree, world, world.after), evaluate(tree, world, world.before))
    delta = two_terms(tree, Differential(changed))
    assert delta is None or plus(evaluate(delta, world)) == wanted


def partners_are_their_parts(delta: Node, world: World) -> bool:
    """However executors take each row once."""
    nodes = [node for node in delta.walk() if isinstance(node, Partners)]
    return all(evaluate(node.apart, world) == evaluate(node, world) for node in nodes)


@pytest.mark.parametrize("name", JOINS)
def test_where_it_applies(name: str) -> None:
    everything = {scan.source.relid: COMMITTED for scan in SCANS}
    assert (two_terms(JOINS[name], Differential(everything)) is None) == (name in PLAIN)


def chain(tables: list[Scan]) -> Node:
    tree: Node = tables[0]
    for each in tables[1:]:
        tree = Join(tree, each, ((len(tree.columns) - 1, 0),))
    return tree


def star(tables: list[Scan]) -> Node:
    tree: Node = tables[0]
    for each in tables[1:]:
        tree = Join(tree, each, ((0, 0),))
    return tree


def relations_named(tree: Node, changed: int) -> int:
    delta = differentiate(tree, dict.fromkeys(range(1, changed + 1), COMMITTED))
    assert delta is not None
    return delta.named_relations


@pytest.mark.parametrize("form", [chain, star])
def test_the_change_of_a_join_grows_with_its_relations(
    form: Callable[[list[Scan]], Node],
) -> None:
    """Each relation after, and before with its change; of two relations the plain rule."""
    lengths = {n: relations_named(form(list(map(table, range(1, n + 1)))), n) for n in range(2, 9)}
    assert lengths == {2: 6, 3: 9, 4: 12, 5: 15, 6: 18, 7: 21, 8: 24}


@pytest.mark.parametrize("form", [chain, star])
@pytest.mark.parametrize("number", range(3, 9))
def test_each_way_is_gone_once_in_each_direction(
    form: Callable[[list[Scan]], Node], number: int
) -> None:
    tree = form(list(map(table, range(1, number + 1))))
    delta = differentiate(tree, dict.fromkeys(range(1, number + 1), COMMITTED))
    assert delta is not None
    assert sum(isinstance(node, Lookup) for node in delta.walk()) == 2 * (number - 1)


def test_of_one_change_nothing_is_subtracted() -> None:
    assert relations_named(chain(list(map(table, range(1, 9)))), 1) == 8


@pytest.mark.parametrize("per_value", [5.0, 100.0])
def test_not_where_frequent_keys_meet(per_value: float) -> None:
    """A row of one relation would be joined with many that have not changed."""
    tree = chain([table(relid, per_value) for relid in (1, 2, 3, 4)])
    changed = dict.fromkeys((1, 2, 3, 4), COMMITTED)
    assert two_terms(tree, Differential(changed)) is None


def test_one_relation_may_have_frequent_keys() -> None:
    """The many rows of one lead to one row each of all others."""
    tree = Join(Join(table(2), table(1, 1000.0), ((0, 0),)), table(3), ((3, 0),))
    changed = dict.fromkeys((1, 2, 3), COMMITTED)
    assert two_terms(tree, Differential(changed)) is not None


def test_rows_without_a_partner_where_few_are_lead_no_further() -> None:
    """Of the orders that changed, only those of the few parts lead to a supplier. What the step to
    B finds comes back from there, so it is not asked first."""
    tree = Join(Join(Join(A, B, ((0, 0),)), FEW_C, ((1, 0),)), D, ((0, 1),))
    changed = dict.fromkeys((1, 2), COMMITTED)
    delta = two_terms(tree, Differential(changed))
    assert delta is not None
    led = {node.describe(): node.keys.input for node in delta.walk() if isinstance(node, Lookup)}
    assert [name for name, rows in led.items() if isinstance(rows, KeyFilter)] == [
        "Lookup public.t4 by x"
    ]
    rows = led["Lookup public.t4 by x"]
    assert isinstance(rows, KeyFilter)
    assert rows.indexes == (1,)
    assert {"Lookup public.t3 by k"} == {
        node.describe()
        for node in rows.keys.walk()
        if node.describe().startswith("Lookup public.t3")
    }
