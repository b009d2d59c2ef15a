"""Nested state: what is stored below other operators."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pgstream.algebra.expressions import Call, Literal, Ref
from pgstream.algebra.nested import Nesting
from pgstream.algebra.operators.aggregate import Aggregate
from pgstream.algebra.operators.filter import Filter
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.project import pick
from pgstream.algebra.operators.semi_join import SemiJoin
from pgstream.algebra.types import BOOLEAN, INTEGER

sys.path.insert(0, str(Path(__file__).parent))
from law_cases import LESS, A, B

POSITIVE = Filter(B, Call(">", (Ref(1, INTEGER), Literal("0", INTEGER)), BOOLEAN))


@pytest.mark.parametrize(
    ("right", "stored"),
    [
        (Aggregate(B, (0,), ()), [Aggregate(B, (0,), ())]),
        (POSITIVE, [Aggregate(pick(POSITIVE, (0,)), (0,), ())]),
        (B, []),  # a table whose key it is: a change of it is one of its keys
    ],
)
def test_the_keys_of_a_semi_join_are_stored(right: Node, stored: list[Node]) -> None:
    nesting = Nesting(7, 1, None)
    made = nesting.rewritten(SemiJoin(A, right, ((1, 0),)))
    assert [hidden.aggregate for hidden in nesting.hidden] == stored
    assert isinstance(made, SemiJoin)
    assert made.on == ((1, 0),)


def test_rows_that_a_condition_compares_are_not() -> None:
    nesting = Nesting(7, 1, None)
    nesting.rewritten(SemiJoin(A, POSITIVE, ((1, 0),), LESS))
    assert nesting.hidden == []
