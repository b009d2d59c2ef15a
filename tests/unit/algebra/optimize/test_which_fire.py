"""For each rewrite: trees in which it has something to do, and trees that it leaves alone."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pgstream.algebra.expressions import Call, Expression, Literal, Native, Ref
from pgstream.algebra.operators.aggregate import Aggregate, AggregateCall
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.order import Order
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.project import Project, pick
from pgstream.algebra.operators.scan import Field, Scan, Source
from pgstream.algebra.operators.semi_join import SemiJoin
from pgstream.algebra.operators.shared import Shared
from pgstream.algebra.operators.union_all import UnionAll
from pgstream.algebra.operators.weigh import Weigh
from pgstream.algebra.operators.window import DEFAULT_FRAME, Window, WindowCall
from pgstream.algebra.optimize.connect_joins import connect_joins
from pgstream.algebra.optimize.drop_groups import drop_groups
from pgstream.algebra.optimize.drop_joins import drop_joins
from pgstream.algebra.optimize.drop_null_tests import drop_null_tests
from pgstream.algebra.optimize.drop_true import drop_true
from pgstream.algebra.optimize.factor_or import factor_or
from pgstream.algebra.optimize.merge_projects import merge_projects
from pgstream.algebra.optimize.optimize import Rewrite
from pgstream.algebra.optimize.prune_columns import prune_columns
from pgstream.algebra.optimize.push_filters import push_filters
from pgstream.algebra.optimize.strengthen_joins import strengthen_joins
from pgstream.algebra.types import BIGINT, BOOLEAN, INTEGER, TEXT

sys.path.insert(0, str(Path(__file__).parents[1]))
from law_cases import A, B

C = Scan(Source(3, "public", "c", False), (Field("k", INTEGER), Field("z", INTEGER)))
ONE, NULL, TRUE = Literal("1", INTEGER), Literal(None, INTEGER), Literal("t", BOOLEAN)
COUNT = AggregateCall("count", None, BIGINT)
RANK = WindowCall("rank", (), None, (Order(1),), DEFAULT_FRAME, BIGINT)
NUMBER = WindowCall("row_number", (), None, (Order(1),), DEFAULT_FRAME, BIGINT)


def ref(index: int) -> Ref:
    return Ref(index, INTEGER)


def call(function: str, *arguments: Expression) -> Call:
    return Call(function, arguments, BOOLEAN)


def is_one(index: int) -> Call:
    return call("=", ref(index), ONE)


def both(*parts: Expression) -> Call:
    return call("and", *parts)


def either(*parts: Expression) -> Call:
    return call("or", *parts)


QUOTIENT = call(">", Call("/", (ONE, ref(0)), INTEGER), ONE)
BETWEEN = call(">", Call("/", (ref(0), ref(2)), INTEGER), ONE)
BY_POSTGRES = Native(("f(", ")"), (ref(0),), BOOLEAN, "f")
GROUPS = Aggregate(A, (0,), (COUNT,))
PLUS = Call("+", (ref(0), ONE), INTEGER)

FIRE: dict[str, tuple[Callable[[Node], Node], Node, Node]] = {
    "a common conjunct": (
        factor_or,
        Filter(A, either(both(is_one(0), is_one(1)), both(is_one(1), QUOTIENT))),
        Filter(A, both(is_one(1), either(is_one(0), QUOTIENT))),
    ),
    "a branch that asks for less": (
        factor_or,
        Filter(A, either(both(is_one(0), is_one(1)), is_one(1))),
        Filter(A, is_one(1)),
    ),
    "in the condition of a join": (
        factor_or,
        Join(A, B, (), either(both(is_one(0), is_one(3)), both(is_one(0), is_one(2)))),
        Join(A, B, (), both(is_one(0), either(is_one(3), is_one(2)))),
    ),
    "true": (drop_true, Filter(A, TRUE), A),
    "and true": (drop_true, Join(A, B, (), both(TRUE, is_one(0))), Join(A, B, (), is_one(0))),
    "below a projection": (
        push_filters,
        Filter(pick(A, (1, 0)), is_one(0)),
        pick(Filter(A, is_one(1)), (1, 0)),
    ),
    "to both sides of a join, and an equality": (
        push_filters,
        Filter(Join(A, B), both(is_one(1), is_one(3), call("=", ref(0), ref(2)))),
        Join(Filter(A, is_one(1)), Filter(B, is_one(1)), ((0, 0),)),
    ),
    "out of the condition of a join": (
        push_filters,
        Join(A, B, (), both(is_one(1), call("=", ref(0), ref(2)))),
        Join(Filter(A, is_one(1)), B, ((0, 0),)),
    ),
    "what may fail, for the pairs of a join": (
        push_filters,
        Filter(Join(A, B, ((0, 0),)), both(BETWEEN, call("<", ref(1), ref(3)))),
        Join(A, B, ((0, 0),), both(call("<", ref(1), ref(3)), BETWEEN)),
    ),
    "to the left of LEFT": (
        push_filters,
        Filter(OuterJoin(A, B, ((0, 0),)), both(is_one(1), is_one(3))),
        Filter(OuterJoin(Filter(A, is_one(1)), B, ((0, 0),)), is_one(3)),
    ),
    "into each term of a sum": (
        push_filters,
        Filter(UnionAll((A, B)), is_one(0)),
        UnionAll((Filter(A, is_one(0)), Filter(B, is_one(0)))),
    ),
    "on a grouping column": (
        push_filters,
        Filter(GROUPS, both(is_one(0), is_one(1))),
        Filter(Aggregate(Filter(A, is_one(0)), (0,), (COUNT,)), is_one(1)),
    ),
    "on a partition": (
        push_filters,
        Filter(Window(A, (0,), (RANK,)), is_one(0)),
        Window(Filter(A, is_one(0)), (0,), (RANK,)),
    ),
    "on the rows of a semi-join": (
        push_filters,
        Filter(SemiJoin(A, B, ((0, 0),)), is_one(1)),
        SemiJoin(Filter(A, is_one(1)), B, ((0, 0),)),
    ),
    "columns that a semi-join does not compare": (
        prune_columns,
        SemiJoin(A, B, ((0, 0),)),
        SemiJoin(A, Scan(B.source, B.fields[:1]), ((0, 0),)),
    ),
    "the key of a semi-join needs the right side": (
        strengthen_joins,
        SemiJoin(OuterJoin(A, B, ((0, 0),)), C, ((3, 0),)),
        SemiJoin(Join(A, B, ((0, 0),)), C, ((3, 0),)),
    ),
    "two filters": (
        push_filters,
        Filter(Filter(A, QUOTIENT), is_one(1)),
        Filter(A, both(is_one(1), QUOTIENT)),
    ),
    "a filter needs the right side": (
        strengthen_joins,
        Filter(OuterJoin(A, B, ((0, 0),)), is_one(3)),
        Filter(Join(A, B, ((0, 0),)), is_one(3)),
    ),
    "a key above needs the right side": (
        strengthen_joins,
        Join(pick(OuterJoin(A, B, ((0, 0),)), (3,)), C, ((0, 0),)),
        Join(pick(Join(A, B, ((0, 0),)), (3,)), C, ((0, 0),)),
    ),
    "FULL of which the left side is needed": (
        strengthen_joins,
        Filter(OuterJoin(A, B, ((0, 0),), keeps_right=True), is_one(0)),
        Filter(OuterJoin(A, B, ((0, 0),)), is_one(0)),
    ),
    "FULL of which the right side is needed": (
        strengthen_joins,
        Filter(OuterJoin(A, B, ((0, 0),), keeps_right=True), is_one(2)),
        Filter(pick(OuterJoin(B, A, ((0, 0),)), (2, 3, 0, 1)), is_one(2)),
    ),
    "FULL of which both are needed": (
        strengthen_joins,
        Filter(OuterJoin(A, B, ((0, 0),), keeps_right=True), call("<", ref(0), ref(3))),
        Filter(Join(A, B, ((0, 0),)), call("<", ref(0), ref(3))),
    ),
    "an equality that comes later": (
        connect_joins,
        Join(Join(A, B), C, ((1, 0), (3, 1))),
        pick(Join(Join(A, C, ((1, 0),)), B, ((3, 1),)), (0, 1, 4, 5, 2, 3)),
    ),
    "columns that nothing reads": (
        prune_columns,
        pick(Join(A, B, ((0, 0),)), (3,)),
        pick(Join(Scan(A.source, A.fields[:1]), B, ((0, 0),)), (2,)),
    ),
    "calls that nothing reads": (
        prune_columns,
        pick(Aggregate(A, (0,), (COUNT, AggregateCall("max", 1, INTEGER))), (1,)),
        pick(Aggregate(Scan(A.source, A.fields[:1]), (0,), (COUNT,)), (1,)),
    ),
    "a window that nothing reads": (
        prune_columns,
        pick(Window(A, (0,), (RANK,)), (0,)),
        pick(Scan(A.source, A.fields[:1]), (0,)),
    ),
    "a projection of a projection": (
        merge_projects,
        Project(Project(A, (PLUS, ref(1)), ("p", "q")), (ref(1), ref(0)), ("r", "s")),
        Project(A, (ref(1), PLUS), ("r", "s")),
    ),
    "a projection that only names": (
        merge_projects,
        Project(Project(A, (PLUS, PLUS), ("p", "q")), (ref(0), ref(1)), ("r", "s")),
        Project(A, (PLUS, PLUS), ("r", "s")),
    ),
    "a projection that changes nothing": (
        merge_projects,
        Filter(pick(A, (0, 1)), is_one(0)),
        Filter(A, is_one(0)),
    ),
}

STAY: dict[str, tuple[Callable[[Node], Node], Node]] = {
    "no conjunct is common": (
        factor_or,
        Filter(A, either(both(is_one(0), is_one(1)), QUOTIENT)),
    ),
    "the common one may fail where the first guards it": (
        factor_or,
        Filter(A, either(both(is_one(1), QUOTIENT), both(is_one(0), QUOTIENT))),
    ),
    "what may fail": (push_filters, Filter(pick(A, (0,)), QUOTIENT)),
    "what Spark does not compute": (push_filters, Filter(pick(A, (0,)), BY_POSTGRES)),
    "what follows what Spark does not compute": (
        push_filters,
        Filter(Join(A, B, ((0, 0),)), both(BY_POSTGRES, BETWEEN)),
    ),
    "a guard and what it guards": (
        push_filters,
        Join(
            A,
            B,
            (),
            both(call("<>", ref(0), ref(2)), call(">", Call("/", (ref(0), ref(2)), INTEGER), ONE)),
        ),
    ),
    "on the right of LEFT": (push_filters, Filter(OuterJoin(A, B, ((0, 0),)), is_one(2))),
    "on a side of FULL": (
        push_filters,
        Filter(OuterJoin(A, B, ((0, 0),), keeps_right=True), is_one(0)),
    ),
    "on a count": (push_filters, Filter(GROUPS, is_one(1))),
    "on what is not the partition": (push_filters, Filter(Window(A, (0,), (RANK,)), is_one(1))),
    "on what is computed": (push_filters, Filter(Project(A, (PLUS,), ("p",)), is_one(0))),
    "into what others read": (push_filters, Filter(Shared(A, "cte"), is_one(0))),
    "an equality where NULLs match": (
        push_filters,
        Join(A, B, ((0, 0),), call("=", ref(1), ref(3)), nulls_match=True),
    ),
    "an aggregate of no groups": (
        push_filters,
        Filter(Aggregate(A, (), (COUNT,)), is_one(0)),
    ),
    "a filter that NULL passes": (
        strengthen_joins,
        Filter(OuterJoin(A, B, ((0, 0),)), call("is null", ref(3))),
    ),
    "one branch that NULL passes": (
        strengthen_joins,
        Filter(OuterJoin(A, B, ((0, 0),)), either(is_one(3), is_one(0))),
    ),
    "a filter on the left side": (strengthen_joins, Filter(OuterJoin(A, B, ((0, 0),)), is_one(0))),
    "the key of an anti-join": (
        strengthen_joins,
        SemiJoin(OuterJoin(A, B, ((0, 0),)), C, ((3, 0),), anti=True),
    ),
    "a key of which NULLs match": (
        strengthen_joins,
        Join(OuterJoin(A, B, ((0, 0),)), C, ((3, 0),), nulls_match=True),
    ),
    "a function that PostgreSQL computes": (
        strengthen_joins,
        Filter(OuterJoin(A, B, ((0, 0),)), Native(("f(", ")"), (ref(3),), BOOLEAN, "f")),
    ),
    "each join has its equality": (connect_joins, Join(Join(A, B, ((0, 0),)), C, ((1, 0),))),
    "no equality at all": (connect_joins, Join(Join(A, B), C, (), is_one(2))),
    "a single row": (connect_joins, Join(Join(A, Aggregate(B, (), (COUNT,))), C, ((0, 0),))),
    "grouping columns": (prune_columns, pick(Aggregate(A, (0, 1), ()), (0,))),
    "what tells rows of equal order apart": (prune_columns, pick(Window(A, (0,), (NUMBER,)), (2,))),
    "the table of a recursive CTE": (
        prune_columns,
        pick(Scan(Source(-1, "", "t", True), A.fields), (0,)),
    ),
    "a value that is shown twice": (
        merge_projects,
        Project(Project(A, (PLUS,), ("p",)), (ref(0), ref(0)), ("r", "s")),
    ),
    "a value that is computed with": (
        merge_projects,
        Project(Project(A, (PLUS,), ("p",)), (PLUS,), ("r",)),
    ),
    "a column of another type": (
        merge_projects,
        Project(pick(A, (0,)), (Ref(0, TEXT),), ("r",)),
    ),
    "the names of the result": (merge_projects, Project(A, (ref(0), ref(1)), ("r", "s"))),
}


class Known:
    """The first column of c, alone among the tables, is a key."""

    def unique_keys(self, source: Source) -> list[frozenset[str]]:
        return [frozenset("k")] if source is C.source else []

    def not_null(self, source: Source) -> list[str]:
        return ["k"] if source is C.source else []


KNOWN = Known()
PRESENT = "public.c (k) is not null"
ROWS, VALUES = COUNT, AggregateCall("count", 0, BIGINT)


FACT = "public.c (k) is unique"
LARGEST = AggregateCall("max", 1, INTEGER)
ONLY_LEFT = pick(OuterJoin(A, C, ((0, 0),)), (1,))

FIRE_BY_KEY: dict[str, tuple[Rewrite, Node, Node, set[str]]] = {
    "distinct rows of a table": (
        drop_groups,
        Aggregate(C, (0, 1), ()),
        Project(C, (ref(0), ref(1)), ("k", "z")),
        {FACT},
    ),
    "groups of groups": (
        drop_groups,
        Aggregate(GROUPS, (0, 1), (COUNT,)),
        Project(GROUPS, (ref(0), Ref(1, BIGINT), Literal("1", BIGINT)), ("k", "count", "count")),
        set(),
    ),
    "the largest of one": (
        drop_groups,
        Aggregate(Filter(C, is_one(1)), (0,), (LARGEST,)),
        Project(Filter(C, is_one(1)), (ref(0), ref(1)), ("k", "max")),
        {FACT},
    ),
    "a partner that nothing reads": (
        drop_joins,
        ONLY_LEFT,
        pick(Project(A, (ref(0), ref(1), NULL, NULL), ("k", "x", "k", "z")), (1,)),
        {FACT},
    ),
    "a partner by groups": (
        drop_joins,
        pick(OuterJoin(A, GROUPS, ((0, 0),)), (1,)),
        pick(
            Project(A, (ref(0), ref(1), NULL, Literal(None, BIGINT)), ("k", "x", "k", "count")),
            (1,),
        ),
        set(),
    ),
}

FIRE_BY_KEY |= {
    "a row that nothing reads": (
        drop_joins,
        pick(Join(A, Aggregate(B, (), (COUNT,))), (1,)),
        pick(Project(A, (ref(0), ref(1), Literal(None, BIGINT)), ("k", "x", "count")), (1,)),
        set(),
    ),
    "a test for NULL": (
        drop_null_tests,
        Filter(C, both(call("is not null", ref(0)), is_one(1))),
        Filter(C, is_one(1)),
        {PRESENT},
    ),
    "a test that a condition makes needless": (
        drop_null_tests,
        Filter(Filter(A, is_one(0)), either(call("is null", ref(0)), is_one(1))),
        Filter(Filter(A, is_one(0)), is_one(1)),
        set(),
    ),
    "counts of values and of rows": (
        drop_null_tests,
        Aggregate(C, (), (ROWS, VALUES)),
        pick(Aggregate(C, (), (ROWS,)), (0, 0)),
        {PRESENT},
    ),
    "a value and itself": (
        drop_null_tests,
        Filter(C, either(call(">", ref(0), ref(0)), is_one(1))),
        Filter(C, is_one(1)),
        {PRESENT},
    ),
    "what is true in every row": (
        drop_null_tests,
        Filter(Project(A, (ref(0), TRUE), ("k", "p")), either(is_one(0), Ref(1, BOOLEAN))),
        Filter(Project(A, (ref(0), TRUE), ("k", "p")), TRUE),
        set(),
    ),
    "a choice of one": (
        drop_null_tests,
        Project(A, (call("case", is_one(0), TRUE, TRUE),), ("p",)),
        Project(A, (TRUE,), ("p",)),
        set(),
    ),
}

STAY_BY_KEY: dict[str, tuple[Rewrite, Node]] = {
    "the key is not grouped": (drop_groups, Aggregate(C, (1,), ())),
    "a table without a key": (drop_groups, Aggregate(A, (0, 1), ())),
    "a sum of numbers": (drop_groups, Aggregate(C, (0,), (AggregateCall("sum", 1, BIGINT),))),
    "no groups at all": (drop_groups, Aggregate(Aggregate(C, (), (COUNT,)), (), (COUNT,))),
    "rows added together": (drop_groups, Aggregate(UnionAll((C, C)), (0, 1), ())),
    "a row as often as it says": (drop_groups, Aggregate(Weigh(C, ref(1)), (0, 1), ())),
    "a key that is padded": (
        drop_groups,
        Aggregate(OuterJoin(A, C, ((0, 0),), keeps_right=True), (2, 3), ()),
    ),
    "several partners": (drop_joins, pick(OuterJoin(A, B, ((0, 0),)), (1,))),
    "not by its key": (drop_joins, pick(OuterJoin(A, C, ((0, 1),)), (1,))),
    "a partner that is read": (drop_joins, pick(OuterJoin(A, C, ((0, 0),)), (1, 3))),
    "a partner that is asked for": (
        drop_joins,
        pick(Filter(OuterJoin(A, C, ((0, 0),)), call("is null", ref(3))), (1,)),
    ),
    "a row that may be missing": (
        drop_joins,
        pick(Join(A, Filter(Aggregate(B, (), (COUNT,)), is_one(0))), (1,)),
    ),
    "a row that is compared": (
        drop_joins,
        pick(Join(A, Aggregate(B, (), (COUNT,)), (), call("<", ref(0), ref(2))), (1,)),
    ),
    "a test of what may be NULL": (drop_null_tests, Filter(C, call("is not null", ref(1)))),
    "a test of what is padded": (
        drop_null_tests,
        Filter(OuterJoin(A, C, ((0, 0),)), call("is null", ref(2))),
    ),
    "a count of what may be NULL": (
        drop_null_tests,
        Aggregate(C, (), (ROWS, AggregateCall("count", 1, BIGINT))),
    ),
    "what may be NULL and itself": (drop_null_tests, Filter(C, call(">", ref(1), ref(1)))),
    "a choice by what may fail": (
        drop_null_tests,
        Project(A, (call("case", QUOTIENT, TRUE, TRUE),), ("p",)),
    ),
    "an inner join": (drop_joins, pick(Join(A, C, ((0, 0),)), (1,))),
    "rows of the other side": (
        drop_joins,
        pick(OuterJoin(A, C, ((0, 0),), keeps_right=True), (1,)),
    ),
}


@pytest.mark.parametrize("case", FIRE_BY_KEY)
def test_it_fires_by_a_key(case: str) -> None:
    rewrite, tree, wanted, facts = FIRE_BY_KEY[case]
    made, used = rewrite(tree, KNOWN)
    assert made is wanted
    assert used == facts


@pytest.mark.parametrize("case", STAY_BY_KEY)
def test_it_must_not_fire_by_a_key(case: str) -> None:
    rewrite, tree = STAY_BY_KEY[case]
    assert rewrite(tree, KNOWN) == (tree, frozenset())


@pytest.mark.parametrize("case", FIRE)
def test_it_fires(case: str) -> None:
    rewrite, tree, wanted = FIRE[case]
    assert rewrite(tree) is wanted


@pytest.mark.parametrize("case", STAY)
def test_it_must_not_fire(case: str) -> None:
    rewrite, tree = STAY[case]
    assert rewrite(tree) is tree


def test_a_column_stays_beside_what_a_scan_computes_of_it() -> None:
    """Changes cancel out by columns, before anything is computed."""
    doubled = Field('("x" * 2)', INTEGER, '"x" * 2')
    scan = Scan(A.source, (*A.fields, doubled))
    assert prune_columns(pick(scan, (2,))) is pick(Scan(A.source, (A.fields[1], doubled)), (1,))


def test_all_scans_of_a_table_read_the_same() -> None:
    """So that it is read once."""
    narrow, wide = pick(A, (0,)), pick(A, (1,))
    tree = UnionAll((narrow, wide))
    assert prune_columns(tree) is tree
