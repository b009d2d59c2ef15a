"""How many rows a refresh is expected to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from pgstream.algebra.calculus.differentiate import differentiate
from pgstream.algebra.operators.aggregate import Aggregate, AggregateCall
from pgstream.algebra.operators.join import Join
from pgstream.algebra.operators.node import Node
from pgstream.algebra.operators.outer_join import OuterJoin
from pgstream.algebra.operators.scan import Field, Part, Scan, Source, Stored, drawn
from pgstream.algebra.operators.window import Window
from pgstream.algebra.plan import nest, plan
from pgstream.algebra.types import BIGINT
from pgstream.refresh.changes import SourceChanges
from pgstream.refresh.cost import Cost, cost_of
from pgstream.refresh.expect import correction, expect

ROWS = {"src": 1_000_000.0, "dim": 10_000.0, "st": 1_000_000.0, "hidden_7_0": 10_000.0}
DISTINCT = {"id": 1_000_000.0, "k": 10_000.0, "one": 1.0, "k0": 10_000.0}


@dataclass(frozen=True)
class Told:
    """Statistics of src and dim, whose keys k are the same."""

    def rows(self, schema: str, table: str) -> float:
        return ROWS[table]

    def distinct(self, schema: str, table: str, columns: Sequence[str]) -> float:
        found = 1.0
        for column in columns:
            found *= DISTINCT[column]
        return min(found, self.rows(schema, table))


def table(relid: int, name: str) -> Scan:
    fields = tuple(Field(column, BIGINT) for column in ("id", "k", "one"))
    return Scan(Source(relid, "public", name, False), fields)


SRC, DIM, ST = table(1, "src"), table(2, "dim"), table(3, "st")
COUNT = (AggregateCall("count", None, BIGINT),)


def cost(tree: Node, changed: dict[int, int], most_rows: int = 50_000) -> Cost:
    delta = differentiate(tree, {relid: frozenset((Part.COMMITTED,)) for relid in changed})
    assert delta is not None
    counts = {(relid, Part.COMMITTED): n for relid, n in changed.items()}
    return cost_of([delta], counts, Told(), most_rows)


def test_a_change_alone_reads_no_table() -> None:
    assert cost(SRC, {1: 500}) == Cost(changes=500, given=500)
    assert cost(SRC, {1: 50_001}) == Cost(changes_by_executors=50_001, jobs=1, given=50_001)


def test_a_lookup_reads_the_rows_of_its_keys() -> None:
    joined = Join(SRC, DIM, ((1, 1),))
    assert cost(joined, {1: 1}).rows == 1
    assert cost(joined, {2: 1}).rows == 100
    assert cost(joined, {1: 1000}).rows == pytest.approx(952, abs=1)  # some have the same key
    both = cost(joined, {1: 10, 2: 10})
    assert both.rows == pytest.approx(10 + 1000, abs=2)


def test_the_next_lookup_has_the_keys_of_the_rows_found() -> None:
    chain = Join(Join(DIM, SRC, ((1, 1),)), table(1, "src"), ((3, 0),))
    assert cost(chain, {2: 10}).rows == pytest.approx(1000 + 1000, rel=0.01)


def test_touched_groups_are_read_again() -> None:
    grouped = Aggregate(SRC, (1,), COUNT)
    assert cost(grouped, {1: 10}).rows == pytest.approx(1000, rel=0.01)
    assert cost(Window(SRC, (1,), ()), {1: 10}).rows == pytest.approx(1000, rel=0.01)


def test_without_a_key_tables_are_read_whole() -> None:
    crossed = cost(Join(SRC, DIM), {2: 1})
    assert (crossed.in_driver, crossed.by_executors) == (0, 1_000_000)
    assert cost(Join(SRC, DIM), {1: 1}).in_driver == 10_000


def test_too_many_keys_read_the_table_once() -> None:
    joined = OuterJoin(SRC, DIM, ((1, 1),))
    assert cost(Join(SRC, DIM, ((1, 1),)), {1: 9000}).rows == 10_000
    assert cost(joined, {2: 100}, most_rows=50).by_executors >= 1_000_000


def test_executors_read_twice_what_is_named_twice_and_compare_in_joins() -> None:
    src, dim = Stored(SRC), Stored(DIM)
    both = cost_of([Join(src, src, ((0, 0),))], {}, Told(), 50_000)
    assert (both.by_executors, both.again) == (1_000_000, 3_000_000)
    beside = cost_of([Join(src, dim, ((1, 1),))], {}, Told(), 50_000)
    assert (beside.by_executors, beside.again) == (1_000_000, 1_010_000)
    assert cost_of([Join(dim, dim, ((1, 1),))], {}, Told(), 50_000).again == 0


def test_one_value_is_the_whole_table() -> None:
    assert cost(Aggregate(SRC, (2,), COUNT), {1: 1}).rows == 1_000_000


def test_values_drawn_at_random() -> None:
    assert drawn(100, 1) == pytest.approx(1)
    assert drawn(100, 100) == pytest.approx(63.4, abs=0.1)
    assert drawn(100, 10_000) == pytest.approx(100)
    assert drawn(1, 5) == 1
    assert drawn(1e6, 0) == 0


def test_differential_against_full() -> None:
    tree = Window(SRC, (1,), ())
    few, many = (
        expect(plan(tree), ST, SourceChanges({1: n}), Told(), (), 50_000) for n in (200, 20_000)
    )
    assert few.full.rows == many.full.rows == 2_000_000  # with what is stored
    assert few.times_full < 0.5 < 2 < many.times_full


def test_no_more_comes_out_than_is_stored_and_than_the_change_brings() -> None:
    """Whatever a join with many partners is expected to give."""
    joined = Join(SRC, SRC, ((2, 2),))  # of a million rows with a million
    found = expect(plan(joined), ST, SourceChanges({1: 1000}), Told(), (), 50_000)
    assert found.differential.given == found.full.given == 2 * (ROWS["st"] + 1000)


def test_few_keys_come_or_go() -> None:
    """Ten rows touch ten groups of a hundred rows each. Those of a count that was and one that is
    are looked up; of keys alone one at most is expected to come or go."""
    for calls, led in ((COUNT, 20), ((), 1)):
        tree, hidden = nest(Join(SRC, Aggregate(SRC, (1,), calls), ((1, 0),)), 7, ())
        grouped = plan(tree, hidden=hidden)
        found = expect(grouped, ST, SourceChanges({1: 10}), Told(), (), 50_000)
        assert found.differential.in_driver == pytest.approx(10 + led * 100, rel=0.02)


def test_executors_are_worth_their_start_for_many_rows_only() -> None:
    assert Cost(in_driver=1000).ms < Cost(by_executors=1000, jobs=1).ms
    assert Cost(in_driver=100_000).ms > 2 * Cost(by_executors=100_000, jobs=1).ms


def test_a_large_change_is_read_as_often_as_it_is_named() -> None:
    """By the rule of a join with itself: its change, twice."""
    found = cost(Join(SRC, SRC, ((0, 0),)), {1: 60_000})
    assert found.jobs == 1
    assert found.changes_by_executors > 2 * 60_000


def test_history_corrects_what_is_expected() -> None:
    past = [("DIFFERENTIAL", 300.0, 100.0), ("FULL", 50.0, 100.0), ("DIFFERENTIAL", 200.0, 100.0)]
    past += [("DIFFERENTIAL", 9e9, 100.0)]
    assert correction(past, "DIFFERENTIAL") == 3
    assert correction(past, "FULL") == 0.5
    assert correction([], "FULL") == 1
    assert correction([("FULL", 1e9, 1.0)], "FULL") == 10
    assert correction([("FULL", 200.0, 100.0)], "DIFFERENTIAL") == 2  # the machine is slow
    tree = Window(SRC, (1,), ())
    alone = expect(plan(tree), ST, SourceChanges({1: 1000}), Told(), (), 50_000)
    slow = expect(plan(tree), ST, SourceChanges({1: 1000}), Told(), past, 50_000)
    assert slow.times_full == pytest.approx(6 * alone.times_full)
