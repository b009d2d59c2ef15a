"""Which conditions PostgreSQL asks while it reads a table, and which stay above it."""

from __future__ import annotations

from dataclasses import replace

from pgstream.algebra.calculus.differentiate import differentiate
from pgstream.algebra.expressions import Call, Expression, Literal, Ref
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.scan import Change, Field, Lookup, Part, Scan, Source
from pgstream.algebra.operators.union_all import UnionAll
from pgstream.algebra.optimize.filter_scans import filter_scans
from pgstream.algebra.types import BOOLEAN, INTEGER

FIELDS = (Field("k", INTEGER), Field("x", INTEGER), Field("even", BOOLEAN, "x % 2 = 0"))
A = Scan(Source(1, "public", "a", False), FIELDS)
B = Scan(Source(2, "public", "b", False), FIELDS)
OWN = Scan(Source(-1, "pgstream_state", "hidden_1_0", False), FIELDS)
ONE = Literal("1", INTEGER)
IS_ONE = "(\"x\" = CAST('1' AS integer))"
SHARE = 0.25


def compared(operator: str, index: int) -> Call:
    return Call(operator, (Ref(index, INTEGER), ONE), BOOLEAN)


def both(*parts: Expression) -> Call:
    return Call("and", parts, BOOLEAN)


X_IS_ONE, K_ABOVE, EVEN = compared("=", 1), compared(">", 0), Ref(2, BOOLEAN)
MAY_FAIL = Call(">", (Call("/", (ONE, Ref(1, INTEGER)), INTEGER), ONE), BOOLEAN)


def filtered(*trees: Node, others: tuple[Node, ...] = ()) -> list[Node]:
    return filter_scans(trees, others, lambda source, where: SHARE)


def asking(scan: Scan, where: str) -> Scan:
    return replace(scan, where=where, share=SHARE)


def test_a_condition_on_a_table() -> None:
    assert filtered(Filter(A, X_IS_ONE)) == [asking(A, IS_ONE)]


def test_what_the_scan_computes_is_written_out() -> None:
    wanted = asking(A, f"(x % 2 = 0) AND {IS_ONE}")
    assert filtered(Filter(A, both(EVEN, X_IS_ONE))) == [wanted]


def test_only_what_all_readers_ask() -> None:
    first, second = Filter(A, both(X_IS_ONE, K_ABOVE)), Filter(A, both(EVEN, X_IS_ONE))
    narrowed = asking(A, IS_ONE)
    wanted = [UnionAll((Filter(narrowed, K_ABOVE), Filter(narrowed, EVEN)))]
    assert filtered(UnionAll((first, second))) == wanted
    assert filtered(first, second) == [Filter(narrowed, K_ABOVE), Filter(narrowed, EVEN)]


def test_not_where_another_reader_asks_nothing() -> None:
    tree = Filter(A, X_IS_ONE)
    assert filtered(Join(tree, A, ((0, 0),))) == [Join(tree, A, ((0, 0),))]
    assert filtered(tree, A) == [tree, A]
    assert filtered(tree, others=(tree,)) == [tree]
    assert filtered(tree, others=(B,)) == [asking(A, IS_ONE)]


def test_not_what_may_fail() -> None:
    assert filtered(Filter(A, MAY_FAIL)) == [Filter(A, MAY_FAIL)]
    assert filtered(Filter(A, both(X_IS_ONE, MAY_FAIL))) == [Filter(asking(A, IS_ONE), MAY_FAIL)]


def test_not_of_tables_of_our_own() -> None:
    assert filtered(Filter(OWN, X_IS_ONE)) == [Filter(OWN, X_IS_ONE)]


def test_all_leaves_have_the_condition() -> None:
    (tree,) = filtered(Join(Filter(A, X_IS_ONE), B, ((0, 0),)))
    changed = dict.fromkeys((1, 2), frozenset((Part.COMMITTED,)))
    delta = differentiate(tree, changed)
    assert delta is not None
    leaves = {node.describe() for node in delta.walk() if isinstance(node, Change | Lookup)}
    assert leaves == {
        f"Change public.a where {IS_ONE}",
        f"Lookup public.a by k where {IS_ONE}",
        "Change public.b",
        "Lookup public.b by k",
    }
