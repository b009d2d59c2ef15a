"""settled: an attempt is made again with each hoist that it wants."""

from __future__ import annotations

from pgstream.algebra.lower.hoist import Wanted, settled
from pgstream.algebra.lower.scope import Hoist
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.one_row import OneRow

FIRST, SECOND = Hoist("a", "md5(x)", "md5(x)"), Hoist("b", "md5(y)", "md5(y)")


def test_each_attempt_has_what_those_before_it_wanted() -> None:
    seen: list[tuple[Hoist, ...]] = []

    def attempt(hoists: tuple[Hoist, ...]) -> Node:
        seen.append(hoists)
        for wanted in (FIRST, SECOND):
            if wanted not in hoists:
                raise Wanted(wanted)
        return OneRow()

    assert settled(attempt) is OneRow()
    assert seen == [(), (FIRST,), (FIRST, SECOND)]
