"""Canonical values: where they are needed, and where they are computed."""

from __future__ import annotations

import pytest

from pgstream.algebra.expressions import Call, Literal, Native, Ref
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.one_row import OneRow
from pgstream.algebra.operators.project import Project
from pgstream.algebra.operators.scan import Field, Scan, Source
from pgstream.algebra.placement.canonical import (
    canonical_type,
    common_spelling,
    has_spellings,
    require_blind,
    require_key,
    with_canonical_columns,
)
from pgstream.algebra.placement.spark_list import can_be_key, spark_refusal
from pgstream.algebra.types import BOOLEAN, INTEGER, TEXT, Equality, Type, named
from pgstream.errors import UnsupportedExpression, UnsupportedType

INTERVAL, JSON, TSQUERY = named("interval", "T"), named("json"), named("tsquery")
SHORT = Type("numeric[]", "numeric(4,1)[]", "A", equality=Equality.TEXT)
LONG = Type("numeric[]", "numeric(4,2)[]", "A", equality=Equality.TEXT)
SCAN = Scan(Source(1, "public", "a", False), (Field("id", INTEGER), Field("K k", INTERVAL)))


def test_canonical_values_are_keys() -> None:
    assert not can_be_key(INTERVAL)
    assert can_be_key(canonical_type(INTERVAL))
    assert canonical_type(LONG).declared == "numeric[]"


@pytest.mark.parametrize(
    ("types", "on_spark"),
    [
        ((SHORT, SHORT), True),
        ((SHORT, LONG), False),
        ((SHORT, canonical_type(LONG)), False),
        ((canonical_type(SHORT), canonical_type(LONG)), True),
        ((INTERVAL, canonical_type(INTERVAL)), False),
    ],
)
def test_spark_compares_values_of_one_spelling(types: tuple[Type, Type], on_spark: bool) -> None:
    call = Call("=", (Ref(0, types[0]), Ref(1, types[1])), BOOLEAN)
    assert (spark_refusal(call) is None) is on_spark
    assert has_spellings(common_spelling(types)) is not on_spark


def test_a_scan_computes_the_canonical_value() -> None:
    there = Call("is not null", (Ref(0, INTEGER),), BOOLEAN)
    tree = with_canonical_columns(Project(Filter(SCAN, there), (Ref(1, INTERVAL),), ("k",)))
    (scan,) = (node for node in tree.walk() if isinstance(node, Scan))
    assert scan.fields[-1].sql == 'pgstream._canonical("K k")'
    assert scan.fields[-1].equal_to == "K k"
    assert [column.name for column in tree.columns] == ["k"]
    assert can_be_key(tree.columns[0].type)
    assert with_canonical_columns(tree) is tree


def test_columns_of_a_domain_keep_their_spelling() -> None:
    assert with_canonical_columns(SCAN, exact=1) is SCAN


def test_what_no_scan_computes_is_left_to_postgresql() -> None:
    tree = with_canonical_columns(Project(OneRow(), (Literal("1 day", INTERVAL),), ("k",)))
    assert isinstance(tree, Project)
    assert isinstance(tree.expressions[0], Native)


@pytest.mark.parametrize("type_", [JSON, TSQUERY])
def test_a_key_of_another_type_is_refused(type_: Type) -> None:
    with pytest.raises(UnsupportedType, match="No key"):
        require_key(type_, "No key.")


def test_only_what_is_equal_for_equal_values_is_asked() -> None:
    value = Ref(1, canonical_type(INTERVAL))
    day = Native(("extract(day FROM ", ")"), (value,), INTEGER, "extract")
    later = Call(">", (value, Literal("1 day", INTERVAL)), BOOLEAN)

    def shown(*expressions: Native | Call) -> Node:
        return Project(SCAN, expressions, tuple("xy"[: len(expressions)]))

    require_blind(shown(later))
    for expression in (day, Call("cast", (value,), TEXT)):
        with pytest.raises(UnsupportedExpression, match="written differently"):
            require_blind(shown(later, expression))
