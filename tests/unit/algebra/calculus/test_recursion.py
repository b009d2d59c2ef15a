"""Recursive CTEs as trees: levels, what is linear, where their rows are stored."""

from __future__ import annotations

import pytest

from pgstream.algebra.calculus.linear import require_linear
from pgstream.algebra.calculus.recursion import LEVEL, Recursion, looked_up, with_homes
from pgstream.algebra.expressions import Call, Expression, Literal, Ref
from pgstream.algebra.lower.recursion import numbered, own_level, use_of
from pgstream.algebra.operators.aggregate import Aggregate
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.node import Column, Node
from pgstream.algebra.operators.one_row import OneRow
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.parameter import Parameter
from pgstream.algebra.operators.project import Project, pick
from pgstream.algebra.operators.scan import Field, Lookup, Part, Scan, Source, Stored
from pgstream.algebra.operators.shared import Shared
from pgstream.algebra.operators.union_all import UnionAll
from pgstream.algebra.operators.working import Working
from pgstream.algebra.types import BOOLEAN, INTEGER
from pgstream.errors import UnsupportedConstruct

EDGES = Scan(Source(7, "public", "edges", False), (Field("a", INTEGER), Field("b", INTEGER)))
COLUMNS = (Column("node", INTEGER), Column("depth", INTEGER))
WORKING = Working("t", COLUMNS)
STREAM = Source(9, "public", "st", True)


def number(value: int) -> Literal:
    return Literal(str(value), INTEGER)


def ref(index: int) -> Ref:
    return Ref(index, INTEGER)


def base(second: Expression | None = None) -> Project:
    return Project(EDGES, (ref(0), second or number(0)), ("node", "depth"))


def step(second: Expression | None = None) -> Project:
    """SELECT e.b, t.depth + 1 FROM edges e JOIN t ON e.a = t.node"""
    up = second or Call("+", (ref(3), number(1)), INTEGER)
    return Project(Join(EDGES, WORKING, ((0, 0),)), (ref(1), up), ("b", "?"))


def recursion(steps: Node, level: int | None = 1, first: Node | None = None) -> Recursion:
    _, (made,) = numbered(use_of("t", first or base(), steps, level))
    return made


def test_a_column_that_counts_up_is_the_level() -> None:
    assert own_level(base(), step()) == 1
    assert own_level(UnionAll((base(), base(number(5)))), step()) == 1


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (base(ref(1)), step()),
        (base(Literal(None, INTEGER)), step()),
        (base(), step(Call("+", (ref(3), number(0)), INTEGER))),
        (base(), step(Call("-", (ref(3), number(1)), INTEGER))),
        (base(), step(Call("+", (ref(2), number(1)), INTEGER))),
        (base(), step(Call("+", (ref(0), number(1)), INTEGER))),
    ],
)
def test_any_other_column_is_none(first: Node, then: Node) -> None:
    assert own_level(first, then) is None


def test_lowering_twice_gives_one_recursion() -> None:
    uses = use_of("t", base(), step(), 1), use_of("t", base(), step(), 1)
    other = use_of("u", base(), step(), 1)
    tree, found = numbered(UnionAll((*uses, other)))
    assert [(r.name, r.source.relid) for r in found] == [("t", -1), ("u", -2)]
    assert tree == UnionAll((found[0].scan, found[0].scan, found[1].scan))
    assert found[1].scan.columns == COLUMNS


@pytest.mark.parametrize(
    "tree",
    [
        step(),
        Filter(WORKING, Call("=", (ref(0), number(1)), BOOLEAN)),
        OuterJoin(WORKING, EDGES, ((0, 0),)),
    ],
)
def test_linear_terms_are_fine(tree: Node) -> None:
    require_linear(recursion(tree))


@pytest.mark.parametrize(
    ("tree", "word"),
    [
        (Aggregate(WORKING, (0, 1), ()), "GROUP BY or DISTINCT"),
        (OuterJoin(EDGES, WORKING, ((0, 0),)), "padded"),
        (OuterJoin(WORKING, EDGES, ((0, 0),), keeps_right=True), "padded"),
        (UnionAll((WORKING, EDGES)), "UNION"),
        (Join(WORKING, Aggregate(WORKING, (0,), ()), ((0, 0),)), "subquery"),
    ],
)
def test_other_terms_are_refused(tree: Node, word: str) -> None:
    with pytest.raises(UnsupportedConstruct, match=f"CTE t .*{word}"):
        require_linear(recursion(tree))


def test_recursions_that_others_read_come_first() -> None:
    first = Project(use_of("i", base(), step(), 1), (ref(0), number(0)), ("node", "depth"))
    tree, (inner, outer) = numbered(use_of("o", first, step(), 1))
    assert (inner.name, outer.name) == ("i", "o")
    assert tree == outer.scan
    assert outer.base == Project(inner.scan, (ref(0), number(0)), ("node", "depth"))
    assert numbered(EDGES) == (EDGES, ())


def test_a_stream_table_that_keeps_all_columns_is_the_storage() -> None:
    made = recursion(step())
    tree = Project(Shared(made.scan, "t"), (ref(1), ref(0), ref(0)), ("d", "n", "again"))
    moved, (home,) = with_homes(tree, (made,), 4, STREAM)
    assert not home.is_hidden
    assert (home.source.schema, home.source.name, home.source.relid) == ("public", "st", -1)
    assert [f.name for f in home.fields] == ["again", "d"]
    assert home.hashed == (1, 0, 0)
    assert moved == Project(home.scan, tree.expressions, tree.names)


@pytest.mark.parametrize(
    "expressions",
    [(ref(0),), (ref(0), Call("+", (ref(1), number(1)), INTEGER))],
)
def test_else_it_has_a_table_of_its_own(expressions: tuple[Expression, ...]) -> None:
    made = recursion(step())
    names = tuple("ab"[: len(expressions)])
    moved, (home,) = with_homes(Project(made.scan, expressions, names), (made,), 4, STREAM)
    assert home.is_hidden
    assert str(home.source) == "pgstream_state.recursive_4_0"
    assert moved == Project(home.scan, expressions, names)


def test_a_table_that_keeps_some_rows_is_not_the_storage() -> None:
    made = recursion(step())
    _, (home,) = with_homes(pick(made.scan, (0, 1)), (made,), 4, None)
    assert home.is_hidden


def test_a_level_of_our_own_is_not_shown() -> None:
    columns = (Column("node", INTEGER), Column(LEVEL, INTEGER))
    first = Project(OneRow(), (number(1), number(0)), tuple(c.name for c in columns))
    made = recursion(Working("t", columns), first=first)
    assert [c.name for c in made.scan.columns] == ["node"]
    assert [c.name for c in made.table.columns] == ["node", LEVEL]
    _, (home,) = with_homes(pick(made.scan, (0,)), (made,), 4, STREAM)
    assert home.is_hidden


def test_names_that_clash_are_replaced_in_the_state_table() -> None:
    first = Project(EDGES, (ref(0), ref(1)), ("x", "x"))
    _, (home,) = with_homes(OneRow(), (recursion(step(), None, first),), 4, STREAM)
    assert [f.name for f in home.fields] == ["c0", "c1"]


def test_the_other_tables_are_read_by_the_keys_of_the_rows() -> None:
    rows = Parameter("rows", COLUMNS)
    tree = recursion(step()).applied(rows, {7: frozenset((Part.COMMITTED,))}, at_end=True)
    lookups = [node for node in tree.walk() if isinstance(node, Lookup)]
    assert [(node.stored, node.indexes) for node in lookups] == [(Stored(EDGES), (0,))]
    assert lookups[0].keys.input == rows


def test_the_stored_rows_are_looked_up_by_the_join() -> None:
    made = recursion(step())
    changed = {7: frozenset((Part.COMMITTED,))}
    assert looked_up(made.trees(changed), made.source) == [(made.fields[0],)]
    assert made.seed({}) is None
