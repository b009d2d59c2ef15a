"""Scopes: whoever adds a name gets another scope."""

from __future__ import annotations

from typing import Any

import pytest
from sqlglot import exp

from pgstream.algebra.expressions import Literal, Ref
from pgstream.algebra.lower.scope import Context, Domain, Scope, Table
from pgstream.algebra.operators.node import Column
from pgstream.algebra.operators.scan import Field, Scan, Source
from pgstream.algebra.types import BOOLEAN, INTEGER, TEXT
from pgstream.errors import UnsupportedConstruct, UnsupportedExpression
from pgstream.sql.deparsed import parse_deparsed


def unasked(*_: Any) -> Any:
    raise AssertionError("nothing is lowered here")


EMPTY: Any = None
CONTEXT = Context(EMPTY, unasked)
A = Table("a", 0, ("id", "k"), (Column("id", INTEGER), Column("k", TEXT)))
NONE = Table("none", 2, (), ())
B = Table("b", 2, ("k",), (Column("k", INTEGER),))
SCOPE = Scope(CONTEXT).having(A).having(NONE).having(B)


def node(text: str) -> exp.Expr:
    return parse_deparsed(f"SELECT {text}").expressions[0]


def test_names_are_found_by_their_table() -> None:
    assert SCOPE.resolve(node("a.k")) == Ref(1, TEXT)
    assert SCOPE.resolve(node("b.k")) == Ref(2, INTEGER)
    assert SCOPE.resolve(node("id")) == Ref(0, INTEGER)


def test_a_table_without_columns_owns_none() -> None:
    assert SCOPE.owner(2) is B


@pytest.mark.parametrize(
    ("text", "error"), [("c.k", UnsupportedConstruct), ("a.x", UnsupportedExpression)]
)
def test_an_unknown_name_is_refused(text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        SCOPE.resolve(node(text))


def test_another_scope_leaves_the_first_as_it_was() -> None:
    padded = SCOPE.padding([B])
    assert [table.padded for table in padded.tables] == [False, False, True]
    assert [table.padded for table in SCOPE.tables] == [False, False, False]
    test = node("EXISTS (SELECT 1)")
    known = SCOPE.replacing(test.unnest(), Literal("t", BOOLEAN))
    assert known.resolve(test.unnest()) == Literal("t", BOOLEAN)
    assert SCOPE.resolve(test.unnest()) is None


def test_a_domain_shows_the_columns_of_each_alias_as_a_table() -> None:
    fields = (Field("x", INTEGER), Field("y", TEXT), Field("z", INTEGER))
    tree = Scan(Source(7, "public", "t", False), fields)
    domain = Domain(tree, (("o", "x"), ("o", "y"), ("p", "z")), (4, 5, 9))
    assert [(t.alias, t.offset, t.names) for t in domain.tables] == [
        ("o", 0, ("x", "y")),
        ("p", 2, ("z",)),
    ]
    assert Scope(CONTEXT, domain, tables=domain.tables).domain_columns == [
        Ref(0, INTEGER), Ref(1, TEXT), Ref(2, INTEGER),
    ]  # fmt: skip
