"""What equalities imply: trees in which a rewrite has something to do, and trees
that it leaves alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pgstream.algebra.expressions import Call, Expression, Literal, Ref
from pgstream.algebra.operators.aggregate import Aggregate, AggregateCall
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.project import Project, pick
from pgstream.algebra.operators.scan import Field, Scan, Source
from pgstream.algebra.operators.semi_join import SemiJoin
from pgstream.algebra.operators.union_all import UnionAll
from pgstream.algebra.optimize.close_equalities import close_equalities
from pgstream.algebra.optimize.propagate_constants import propagate_constants
from pgstream.algebra.types import BIGINT, BOOLEAN, INTEGER


def table(relid: int, name: str, *columns: str) -> Scan:
    fields = tuple(Field(column, INTEGER) for column in columns)
    return Scan(Source(relid, "public", name, False), fields)


# Lines (order, part) of orders (k, customer); customers (k, name).
LINES, ORDERS = table(1, "lines", "k", "o"), table(2, "orders", "k", "c")
CUSTOMERS = table(3, "customers", "k", "z")
ONE, TWO = Literal("1", INTEGER), Literal("2", INTEGER)
COUNT = AggregateCall("count", None, BIGINT)


def ref(index: int) -> Ref:
    return Ref(index, INTEGER)


def equal(left: Expression, right: Expression) -> Call:
    return Call("=", (left, right), BOOLEAN)


def is_one(index: int) -> Call:
    return equal(ref(index), ONE)


A, B, C = LINES, ORDERS, CUSTOMERS
A_IS_ONE, B_IS_ONE, C_IS_ONE = (Filter(each, is_one(0)) for each in (A, B, C))
LONG = Scan(Source(4, "public", "long", False), (Field("k", BIGINT), Field("x", BIGINT)))

FIRE: dict[str, tuple[Callable[[Node], Node], Node, Node]] = {
    "to the right": (
        propagate_constants,
        Join(A_IS_ONE, B, ((0, 0),)),
        Join(A_IS_ONE, B_IS_ONE, ((0, 0),)),
    ),
    "to the left": (
        propagate_constants,
        Join(A, B_IS_ONE, ((0, 0),)),
        Join(A_IS_ONE, B_IS_ONE, ((0, 0),)),
    ),
    "on and on": (
        propagate_constants,
        Join(Join(A_IS_ONE, B, ((0, 0),)), C, ((2, 0),)),
        Join(Join(A_IS_ONE, B_IS_ONE, ((0, 0),)), C_IS_ONE, ((2, 0),)),
    ),
    "to what LEFT looks for": (
        propagate_constants,
        OuterJoin(A_IS_ONE, B, ((0, 0),)),
        OuterJoin(A_IS_ONE, B_IS_ONE, ((0, 0),)),
    ),
    "to those that have a partner": (
        propagate_constants,
        SemiJoin(A, B_IS_ONE, ((0, 0),)),
        SemiJoin(A_IS_ONE, B_IS_ONE, ((0, 0),)),
    ),
    "to what an anti-join looks for": (
        propagate_constants,
        SemiJoin(A_IS_ONE, B, ((0, 0),), anti=True),
        SemiJoin(A_IS_ONE, B_IS_ONE, ((0, 0),), anti=True),
    ),
    "where NULLs match": (
        propagate_constants,
        Join(A_IS_ONE, B, ((0, 0),), None, nulls_match=True),
        Join(A_IS_ONE, B_IS_ONE, ((0, 0),), None, nulls_match=True),
    ),
    "a group, a projection, each term of a sum": (
        propagate_constants,
        Join(pick(UnionAll((A_IS_ONE, Aggregate(A_IS_ONE, (0, 1), ()))), (1, 0)), B, ((1, 0),)),
        Join(
            pick(UnionAll((A_IS_ONE, Aggregate(A_IS_ONE, (0, 1), ()))), (1, 0)),
            B_IS_ONE,
            ((1, 0),),
        ),
    ),
    "a column that is a constant": (
        propagate_constants,
        Join(Project(A, (ref(0), ONE), ("k", "one")), B, ((1, 0),)),
        Join(Project(A, (ref(0), ONE), ("k", "one")), B_IS_ONE, ((1, 0),)),
    ),
    "both equal the same column of a semi-join": (
        close_equalities,
        SemiJoin(Join(A, C), B, ((0, 0), (2, 0))),
        SemiJoin(Join(A, C, ((0, 0),)), B, ((0, 0), (2, 0))),
    ),
    "one column that is shown twice": (
        close_equalities,
        SemiJoin(Join(A, C), Aggregate(pick(B, (0, 0)), (0, 1), ()), ((0, 0), (2, 1))),
        SemiJoin(Join(A, C, ((0, 0),)), Aggregate(pick(B, (0, 0)), (0, 1), ()), ((0, 0), (2, 1))),
    ),
    "and of a join above a projection": (
        close_equalities,
        Join(pick(Join(A, C), (2, 0)), B, ((0, 0), (1, 0))),
        Join(pick(Join(A, C, ((0, 0),)), (2, 0)), B, ((0, 0), (1, 0))),
    ),
    "by a filter above": (
        close_equalities,
        Filter(Filter(Join(A, C), is_one(1)), equal(ref(1), ref(3))),
        Filter(Filter(Join(A, C, ((1, 1),)), is_one(1)), equal(ref(1), ref(3))),
    ),
    "both are the same constant": (
        close_equalities,
        Join(A_IS_ONE, C_IS_ONE),
        Join(A_IS_ONE, C_IS_ONE, ((0, 0),)),
    ),
    "over several steps": (
        close_equalities,
        SemiJoin(SemiJoin(Join(A, C), B, ((0, 0), (1, 1))), B, ((1, 0), (2, 0), (0, 0))),
        SemiJoin(SemiJoin(Join(A, C, ((0, 0),)), B, ((0, 0), (1, 1))), B, ((1, 0), (2, 0), (0, 0))),
    ),
}

STAY: dict[str, tuple[Callable[[Node], Node], Node]] = {
    "known already": (propagate_constants, Join(A_IS_ONE, B_IS_ONE, ((0, 0),))),
    "to rows that LEFT keeps": (propagate_constants, OuterJoin(A, B_IS_ONE, ((0, 0),))),
    "to a side of FULL": (
        propagate_constants,
        OuterJoin(A_IS_ONE, B, ((0, 0),), keeps_right=True),
    ),
    "to rows without a partner": (
        propagate_constants,
        SemiJoin(A, B_IS_ONE, ((0, 0),), anti=True),
    ),
    "a column of another type": (propagate_constants, Join(A_IS_ONE, LONG, ((0, 0),))),
    "NULL": (
        propagate_constants,
        Join(Project(A, (Literal(None, INTEGER),), ("n",)), B, ((0, 0),), None, nulls_match=True),
    ),
    "a padded column": (
        propagate_constants,
        Join(OuterJoin(A, B_IS_ONE, ((0, 0),)), C, ((2, 0),)),
    ),
    "two constants in a sum": (
        propagate_constants,
        Join(UnionAll((A_IS_ONE, Filter(A, equal(ref(0), TWO)))), B, ((0, 0),)),
    ),
    "one of two constants": (
        propagate_constants,
        Join(Filter(A, Call("or", (is_one(0), is_one(1)), BOOLEAN)), B, ((0, 0),)),
    ),
    "it has an equality": (close_equalities, Join(A_IS_ONE, C_IS_ONE, ((1, 1),))),
    "another constant": (close_equalities, Join(A_IS_ONE, Filter(C, equal(ref(0), TWO)))),
    "a single row beside": (
        close_equalities,
        Filter(Join(A, Aggregate(C, (), (COUNT,))), equal(ref(0), ref(0))),
    ),
    "no partner is wanted": (
        close_equalities,
        SemiJoin(Join(A, C), B, ((0, 0), (2, 0)), anti=True),
    ),
    "where NULLs match above": (
        close_equalities,
        SemiJoin(Join(A, C), B, ((0, 0), (2, 0)), None, nulls_match=True),
    ),
    "of LEFT all rows are kept": (
        close_equalities,
        OuterJoin(Join(A, C), B, ((0, 0), (2, 0))),
    ),
    "groups between": (
        close_equalities,
        Filter(Aggregate(Join(A, C), (), (COUNT, COUNT)), equal(Ref(0, BIGINT), Ref(1, BIGINT))),
    ),
    "other types": (close_equalities, SemiJoin(Join(A, LONG), B, ((0, 0), (2, 0)))),
}


@pytest.mark.parametrize("case", FIRE)
def test_it_fires(case: str) -> None:
    rewrite, tree, wanted = FIRE[case]
    assert rewrite(tree) is wanted


@pytest.mark.parametrize("case", STAY)
def test_it_must_not_fire(case: str) -> None:
    rewrite, tree = STAY[case]
    assert rewrite(tree) is tree
