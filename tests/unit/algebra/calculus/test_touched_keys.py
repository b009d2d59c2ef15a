"""The change of LEFT, semi- and anti-joins of which both sides change, by the keys of both."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings

from pgstream.algebra.calculus.differentiate import Differential, differentiate
from pgstream.algebra.calculus.touched_keys import by_touched_keys
from pgstream.algebra.expressions import Call, Ref
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.project import pick
from pgstream.algebra.operators.scan import Part, Scan
from pgstream.algebra.operators.semi_join import SemiJoin
from pgstream.algebra.types import BOOLEAN, INTEGER

sys.path.insert(0, str(Path(__file__).parents[1]))
from changed_worlds import COMMITTED, SCANS, difference, table, worlds
from reference import World, evaluate, plus

A, B, C, D = SCANS
X, LAST = Ref(1, INTEGER), Ref(5, INTEGER)
OTHER = Call("<", (X, LAST), BOOLEAN)
ASCENDING = Call("<", (Ref(0, INTEGER), X), BOOLEAN)
AB = Join(A, B, ((0, 0),))
JOINED: dict[str, Node] = {
    "semi": SemiJoin(AB, C, ((0, 0),)),
    "anti": SemiJoin(AB, C, ((0, 0),), anti=True),
    "left": OuterJoin(AB, C, ((0, 0),)),
    "semi, a condition besides": SemiJoin(AB, C, ((0, 0),), OTHER),
    "anti, a condition besides": SemiJoin(AB, C, ((0, 0),), OTHER, anti=True),
    "left, a condition besides": OuterJoin(AB, C, ((0, 0),), OTHER),
    "semi, NULLs match": SemiJoin(AB, C, ((1, 1),), nulls_match=True),
    "anti, NULLs match": SemiJoin(AB, C, ((1, 1),), nulls_match=True, anti=True),
    "left, NULLs match": OuterJoin(AB, C, ((1, 1),), nulls_match=True),
    "anti, a key that may be NULL": SemiJoin(AB, C, ((1, 1),), anti=True),
    "left, a key that may be NULL": OuterJoin(AB, C, ((3, 1),)),
    "left, two columns": OuterJoin(AB, C, ((0, 0), (1, 1))),
    "with itself": SemiJoin(AB, A, ((0, 0),), OTHER, anti=True),
    "one within the other": SemiJoin(
        SemiJoin(AB, A, ((0, 0),), OTHER), Filter(B, ASCENDING), ((0, 0),), OTHER, anti=True
    ),
    "left beside left": OuterJoin(OuterJoin(AB, C, ((0, 0),)), D, ((1, 0),)),
    "beside a join": SemiJoin(AB, Join(C, D, ((0, 0),)), ((0, 0),)),
}
# What the rule leaves to others.
PLAIN: dict[str, Node] = {
    "one relation on the left": SemiJoin(A, C, ((0, 0),)),
    "without an equality": SemiJoin(AB, C, (), OTHER),
    "full": OuterJoin(AB, C, ((0, 0),), keeps_right=True),
    "keys that Spark computes": SemiJoin(AB, C, ((0, 0), (3, 1)), anti=True),
    "inner": Join(AB, C, ((0, 0),)),
    "a padded key": OuterJoin(pick(OuterJoin(A, B, ((0, 0),)), (2, 3)), C, ((0, 0),)),
}
EVERYTHING = {scan.source.relid: COMMITTED for scan in SCANS}
Found = tuple[World, dict[int, frozenset[Part]]]


@pytest.mark.parametrize("name", JOINED)
@settings(max_examples=60, deadline=None)
@given(found=worlds())
def test_the_change_leads_from_before_to_after(name: str, found: Found) -> None:
    world, changed = found
    tree, change = JOINED[name], Differential(changed)
    wanted = difference(evaluate(tree, world, world.after), evaluate(tree, world, world.before))
    for delta in (change.delta(tree), by_touched_keys(tree, change), tree.delta(change)):
        if delta is not None:
            assert plus(evaluate(delta, world)) == wanted


@pytest.mark.parametrize("name", JOINED)
def test_it_names_fewer_relations(name: str) -> None:
    tree = JOINED[name]
    change = Differential(EVERYTHING)
    ours, linear = by_touched_keys(tree, change), tree.delta(change)
    assert ours is not None
    assert linear is not None
    assert ours.named_relations < linear.named_relations


@pytest.mark.parametrize("name", PLAIN)
def test_where_it_does_not_apply(name: str) -> None:
    assert by_touched_keys(PLAIN[name], Differential(EVERYTHING)) is None


@pytest.mark.parametrize("side", [{1, 2}, {3}])
def test_of_one_side_the_linear_rule_reads_less(side: set[int]) -> None:
    changed = dict.fromkeys(side, COMMITTED)
    assert by_touched_keys(JOINED["left"], Differential(changed)) is None


@pytest.mark.parametrize(("per_value", "nulls"), [(100.0, 0.0), (1.0, 5000.0)])
def test_not_where_many_rows_would_be_read(per_value: float, nulls: float) -> None:
    """A row that changed would read all with its key, or all without one."""
    fields = tuple(replace(f, per_value=per_value, nulls=nulls) for f in A.fields)
    left = Join(replace(A, fields=fields), B, ((1, 0),))
    tree = OuterJoin(left, C, ((0, 0),))
    assert by_touched_keys(tree, Differential(EVERYTHING)) is None


def nested(depth: int) -> Node:
    """EXISTS within NOT EXISTS, all by the same key."""
    tree: Node = Join(table(1), table(2), ((0, 0),))
    for relid in range(3, 3 + depth):
        tree = SemiJoin(tree, table(relid), ((0, 0),), anti=relid % 2 == 0)
    return tree


def test_the_change_grows_with_the_relations() -> None:
    """Each relation after, and before: what is stored, and the change."""
    lengths = {}
    for depth in range(1, 5):
        tree = nested(depth)
        scans = [node for node in tree.walk() if isinstance(node, Scan)]
        delta = differentiate(tree, {scan.source.relid: COMMITTED for scan in scans})
        assert delta is not None
        lengths[depth] = delta.named_relations
    assert lengths == {1: 12, 2: 16, 3: 20, 4: 24}
