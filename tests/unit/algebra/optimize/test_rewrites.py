"""Every rewrite gives the same rows: on a tree for each operator and on random trees, with random
tables that have NULLs and duplicates."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgstream.algebra.expressions import Call
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.project import Project, pick
from pgstream.algebra.operators.scan import Scan, Source
from pgstream.algebra.operators.semi_join import SemiJoin
from pgstream.algebra.optimize.drop_groups import drop_groups
from pgstream.algebra.optimize.drop_joins import drop_joins
from pgstream.algebra.optimize.drop_null_tests import drop_null_tests
from pgstream.algebra.optimize.everywhere import everywhere
from pgstream.algebra.optimize.keys import Nothing, keys_of
from pgstream.algebra.optimize.optimize import REWRITES, Rewrite, optimize
from pgstream.algebra.types import BOOLEAN

sys.path.insert(0, str(Path(__file__).parents[1]))
from law_cases import CASES, TABLES, A, B, predicate, trees, worlds
from reference import World, ZSet, evaluate


@st.composite
def filtered(draw: st.DrawFn) -> Node:
    """Trees below conditions, which rewrites are mostly about."""
    tree = draw(st.sampled_from(CASES) | trees())
    for _ in range(draw(st.integers(0, 2))):
        parts = [predicate(draw, tree) for _ in range(draw(st.integers(1, 3)))]
        both = Call("or", (conjoined(parts), conjoined([parts[0], predicate(draw, tree)])), BOOLEAN)
        tree = Filter(tree, both if draw(st.booleans()) else conjoined(parts))
        if draw(st.booleans()):
            tree = pick(tree, (draw(st.integers(0, len(tree.columns) - 1)),))
    return tree


def conjoined(parts: list) -> Call:
    return parts[0] if len(parts) == 1 else Call("and", tuple(parts), BOOLEAN)


@st.composite
def joined(draw: st.DrawFn) -> Node:
    """Three tables, of which some have no equality where they are written, and a choice of
    columns."""
    tree: Node = draw(st.sampled_from((A, B)))
    for _ in range(2):
        right = draw(st.sampled_from((A, B)))
        width = len(tree.columns)
        on = tuple(
            (draw(st.integers(0, width - 1)), draw(st.integers(0, 1)))
            for _ in range(draw(st.integers(0, 2)))
        )
        kind = draw(st.sampled_from((Join, Join, OuterJoin, SemiJoin)))
        condition = predicate(draw, Join(tree, right)) if draw(st.booleans()) else None
        tree = kind(tree, right, on, condition, draw(st.booleans()) and bool(on))
    if draw(st.booleans()):
        tree = Filter(tree, predicate(draw, tree))
    columns = st.integers(0, len(tree.columns) - 1)
    return pick(tree, tuple(draw(st.lists(columns, min_size=1, max_size=3))))


TREES = filtered() | joined()


class FirstColumn:
    """The first column is a key."""

    def unique_keys(self, source: Source) -> list[frozenset[str]]:
        return [frozenset("k")]

    def not_null(self, source: Source) -> list[str]:
        return ["k"]


@pytest.mark.parametrize("rewrite", [*REWRITES, optimize])
@settings(max_examples=80, deadline=None)
@given(tree=TREES, world=worlds())
def test_the_rows_stay_the_same(rewrite: Rewrite, tree: Node, world: World) -> None:
    made, facts = rewrite(tree, Nothing())
    assert not facts
    assert [c.type for c in made.columns] == [c.type for c in tree.columns]
    if isinstance(tree, Project):  # as the tree of a query is: it names the result
        assert [c.name for c in made.columns] == [c.name for c in tree.columns]
    assert evaluate(whole(made), world, world.after) == evaluate(tree, world, world.after)


def whole(tree: Node) -> Node:
    """The tree over scans of all columns, which the reference knows."""

    def change(node: Node) -> Node:
        if not isinstance(node, Scan):
            return node
        table = TABLES[node.source.relid]
        assert set(node.fields) <= set(table.fields)
        return pick(table, tuple(table.fields.index(field) for field in node.fields))

    return everywhere(tree, change)


@settings(max_examples=100, deadline=None)
@given(tree=TREES)
def test_there_is_nothing_left_to_do(tree: Node) -> None:
    made, _ = optimize(tree, FirstColumn())
    assert optimize(made, FirstColumn()) == (made, frozenset())


@pytest.mark.parametrize("rewrite", [drop_groups, drop_joins, drop_null_tests, optimize])
@settings(max_examples=80, deadline=None)
@given(tree=TREES, world=worlds())
def test_the_rows_stay_the_same_where_keys_are_unique(
    rewrite: Rewrite, tree: Node, world: World
) -> None:
    made, _ = rewrite(tree, FirstColumn())
    rows = {relid: one_per_key(world.after(relid)) for relid in TABLES}
    assert evaluate(whole(made), world, rows.get) == evaluate(tree, world, rows.get)


@settings(max_examples=80, deadline=None)
@given(tree=TREES, world=worlds())
def test_keys_tell_rows_apart(tree: Node, world: World) -> None:
    rows = {relid: one_per_key(world.after(relid)) for relid in TABLES}
    found = evaluate(tree, world, rows.get)
    for key in keys_of(tree, FirstColumn()):
        shown = Counter(tuple(row[i] for i in key.columns) for row in found.elements())
        assert all(times == 1 for times in shown.values())


def one_per_key(rows: ZSet) -> ZSet:
    """One row for each value of the first column, which is not NULL."""
    return Counter(dict.fromkeys({row[0]: row for row in rows if row[0] is not None}.values(), 1))
