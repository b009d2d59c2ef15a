"""Which numerics travel as text: those that nothing on Spark reads."""

from __future__ import annotations

import pytest

from pgstream.algebra.expressions import Call, Expression, Literal, Native, Ref
from pgstream.algebra.operators.aggregate import Aggregate, AggregateCall
from pgstream.algebra.operators.by_postgres import ByPostgres
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.node import Column, Node
from pgstream.algebra.operators.order import Order
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.project import Project, pick
from pgstream.algebra.operators.scan import Field, Scan, Source
from pgstream.algebra.operators.union_all import UnionAll
from pgstream.algebra.operators.window import DEFAULT_FRAME, Window, WindowCall
from pgstream.algebra.placement.carry import carry
from pgstream.algebra.types import BIGINT, BOOLEAN, INTEGER, NUMERIC, Equality, Type

FIELDS = (Field("id", INTEGER), Field("x", NUMERIC), Field("y", Type("numeric", "numeric(9,2)")))
T = Scan(Source(1, "public", "t", False), FIELDS)
U = Scan(Source(2, "public", "u", False), FIELDS)
R = Scan(Source(-1, "pgstream_state", "r", True), FIELDS)
X = Ref(1, NUMERIC)
ROW_NUMBER = WindowCall("row_number", (), None, (Order(0),), DEFAULT_FRAME, BIGINT)
RANK = WindowCall("rank", (), None, (Order(1),), DEFAULT_FRAME, BIGINT)


def project(tree: Node, expression: Expression) -> Project:
    return Project(tree, (expression,), ("v",))


def single(function: str) -> Aggregate:
    return Aggregate(T, (0,), (AggregateCall(function, 1, NUMERIC),))


def by_postgres(keys: tuple[int, ...] | None) -> ByPostgres:
    shape = (Column("x", NUMERIC), Column("made", NUMERIC))
    return ByPostgres(T, "SELECT …", shape, (1, None), keys, "made")


PASSES = {
    "scan": T,
    "project": project(T, X),
    "test for NULL": Filter(T, Call("is not null", (X,), BOOLEAN)),
    "join by another column": Join(T, U, ((0, 0),)),
    "padded": OuterJoin(T, U, ((0, 0),)),
    "union": UnionAll((T, U)),
    "union with a constant": UnionAll((project(T, X), project(U, Literal("NaN", NUMERIC)))),
    "window by another column": Window(T, (0,), (ROW_NUMBER,)),
    "only value of a group": single("single"),
    "count": Project(single("count"), (Ref(0, INTEGER),), ("id",)),
    "choice": project(
        T, Call("coalesce", (X, Call("case", (Literal("t", BOOLEAN), X, X), NUMERIC)), NUMERIC)
    ),
    "by PostgreSQL": by_postgres((0,)),
}
READ = {
    "sum": project(T, Call("+", (X, X), NUMERIC)),
    "filter": pick(Filter(T, Call(">", (X, Literal("1", NUMERIC)), BOOLEAN)), (1,)),
    "join by it": Join(pick(T, (1,)), pick(U, (1,)), ((0, 0),)),
    "condition of a join": OuterJoin(
        pick(T, (1,)), pick(U, (1,)), (), Call("<", (Ref(0, NUMERIC), Ref(1, NUMERIC)), BOOLEAN)
    ),
    "grouped": Aggregate(pick(T, (1,)), (0,), ()),
    "aggregate": single("max"),
    "ordered": pick(Window(T, (0,), (RANK,)), (1, 3)),
    "partition": pick(Window(T, (1,), (ROW_NUMBER,)), (1, 3)),
    "key of PostgreSQL": pick(by_postgres((1,)), (0,)),
    "union with a computed one": UnionAll(
        (project(T, X), project(U, Call("negate", (X,), NUMERIC)))
    ),
    "a choice of computed ones": project(
        T, Call("coalesce", (X, Call("negate", (X,), NUMERIC)), NUMERIC)
    ),
    "function of PostgreSQL's": project(T, Native(("f(", ")"), (X,), NUMERIC, "f")),
    "recursive": pick(R, (1,)),
    "read elsewhere": Join(pick(T, (1,)), project(T, Call("negate", (X,), NUMERIC))),
}


def forms(tree: Node) -> set[bool]:
    """Whether its numerics travel as text."""
    return {column.type.as_text for column in tree.columns if column.type.name == "numeric"}


@pytest.mark.parametrize("tree", PASSES.values(), ids=PASSES)
def test_passes_as_text(tree: Node) -> None:
    carried = carry(tree)
    assert forms(carried) <= {True}
    scans = [node for node in carried.walk() if isinstance(node, Scan)]
    assert all(forms(scan) == {True} for scan in scans)
    assert carry(carried) is carried


@pytest.mark.parametrize("tree", READ.values(), ids=READ)
def test_is_read_as_a_decimal(tree: Node) -> None:
    carried = carry(tree)
    assert forms(carried) == {False}
    (scan, *_) = (node for node in carried.walk() if isinstance(node, Scan))
    assert [f.type.as_text for f in scan.fields][1] is False


def test_each_column_by_itself() -> None:
    total = AggregateCall("sum", 1, NUMERIC)
    tree = Join(T, Aggregate(U, (0,), (total,)), ((0, 0),))
    assert [c.type.as_text for c in carry(tree).columns] == [False, True, True, False, False]


def test_every_reference_has_the_type_of_its_column() -> None:
    carried = carry(Filter(project(T, X), Call("is null", (Ref(0, NUMERIC),), BOOLEAN)))
    assert isinstance(carried, Filter)
    assert isinstance(carried.predicate, Call)
    assert carried.predicate.arguments[0].type == carried.columns[0].type


def test_a_scan_that_a_recursion_reads_stays_as_it_is() -> None:
    assert carry(T, decimals=[T]) is T


def test_as_text_it_has_several_spellings_unless_its_digits_are_declared() -> None:
    x, y = (column.type for column in carry(T).columns[1:])
    assert (x.compares, y.compares) == (Equality.SPELLINGS, Equality.TEXT)
    assert (x.is_number, x.declared, y.digits) == (False, "numeric", (9, 2))
