"""Z-sets in the driver."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pyarrow as pa

from pgstream.algebra.types import DOUBLE, INTEGER, NUMERIC, Type
from pgstream.engine.carriers import carrier_of
from pgstream.engine.spark.execution import Rows
from pgstream.engine.zsets import (
    among,
    by_keys,
    can_pick,
    distinct,
    each_once,
    empty,
    negated,
    picked,
    split_lowest,
    total,
    with_sign,
    without,
)


def rows(type_: Type, *pairs: tuple[Any, int], scale: int | None = None) -> Rows:
    carrier = carrier_of(type_, scale)
    values = pa.array([value for value, _ in pairs], carrier.arrow)
    weights = pa.array([weight for _, weight in pairs], pa.int64())
    return Rows(pa.table([values, weights], names=["c0", "w"]), (carrier,))


def content(found: Rows) -> list[tuple[Any, int]]:
    values, weights = (found.table.column(name).to_pylist() for name in ("c0", "w"))
    return sorted(zip(values, weights, strict=True), key=repr)


def numbers(*pairs: tuple[int | None, int]) -> Rows:
    return rows(INTEGER, *pairs)


def test_a_sum_counts_equal_rows_and_drops_zeros() -> None:
    first, second = numbers((1, 2), (None, 1), (3, 1)), numbers((1, -2), (None, 1), (3, 1))
    assert content(total([first, second])) == [(3, 2), (None, 2)]
    assert content(total([first, negated(first)])) == []
    assert content(total([empty(first), first])) == content(first)


def test_parts_by_sign() -> None:
    both = numbers((1, 2), (2, -3), (1, -1))
    assert content(with_sign(both, 1)) == [(1, 2)]
    assert content(with_sign(both, -1)) == [(1, -1), (2, -3)]


def test_differences_know_null_and_count_each_row_once() -> None:
    left, right = numbers((1, 3), (2, 1), (None, 1), (2, 1)), numbers((1, 1), (None, 5), (7, 1))
    assert content(without(left, right)) == [(2, 1)]
    assert content(without(left, right, numbers((2, 1)))) == []
    assert content(among(left, right)) == [(1, 1), (None, 1)]
    assert content(distinct(left)) == [(1, 1), (2, 1), (None, 1)]


def test_a_numeric_is_equal_whatever_its_scale() -> None:
    short = rows(NUMERIC, (Decimal("1.5"), 1), scale=1)
    long = rows(NUMERIC, (Decimal("1.50"), -1), (Decimal("0.25"), 1), scale=2)
    assert content(total([short, long])) == [(Decimal("0.25"), 1)]
    assert content(without(long, short)) == [(Decimal("0.25"), 1)]


def test_floats_are_compared_as_in_postgresql() -> None:
    found = distinct(rows(DOUBLE, (0.0, 1), (-0.0, 1), (float("nan"), 1), (float("nan"), 1)))
    assert found.table.num_rows == 2
    assert content(without(rows(DOUBLE, (-0.0, 1)), rows(DOUBLE, (0.0, 1)))) == []


def test_the_lowest_rows() -> None:
    low, rest = split_lowest(numbers((3, 1), (1, 1), (1, -2)), 0)
    assert content(low) == [(1, -2), (1, 1)]
    assert content(rest) == [(3, 1)]


def test_fewer_columns() -> None:
    one = numbers((1, 1), (1, 1))
    wide = Rows(one.table.add_column(1, "c1", pa.array([5, 6])), (*one.carriers, *one.carriers))
    assert content(picked(wide, (1,))) == [(5, 1), (6, 1)]
    assert content(total([picked(wide, (0,))])) == [(1, 2)]


def at(places: list[str], *pairs: tuple[int | None, int]) -> Rows:
    return replace(numbers(*pairs), places=pa.chunked_array([places], pa.string()))


def test_a_row_of_several_parts_is_taken_once() -> None:
    """By its place: equal rows at two places are two rows."""
    first = at(["(0,1)", "(0,2)"], (7, 1), (7, 1))
    second = at(["(0,2)", "(0,3)"], (7, 1), (8, 1))
    assert content(each_once([first, second])) == [(7, 1), (7, 1), (8, 1)]
    assert each_once([first, numbers()]) is first
    assert each_once([numbers(), numbers()]).table.num_rows == 0


def test_rows_by_key() -> None:
    some = numbers((1, 2), (None, 1), (3, -1), (1, 1))
    keys = numbers((1, 1), (None, 1), (9, 1)).table.drop_columns(["w"])
    assert content(by_keys(some, (0,), keys)) == [(1, 1), (1, 2), (None, 1)]
    assert content(by_keys(some, (0,), keys.slice(0, 0))) == []
    prices = rows(NUMERIC, (Decimal("1.50"), 1), (Decimal("2.00"), 1), scale=2)
    wanted = rows(NUMERIC, (Decimal("1.5"), 1), scale=1).table.drop_columns(["w"])
    assert content(by_keys(prices, (0,), wanted)) == [(Decimal("1.50"), 1)]
    floats = rows(DOUBLE, (-0.0, 1), (float("nan"), 1), (2.0, 1))
    odd = rows(DOUBLE, (0.0, 1), (float("nan"), 1)).table.drop_columns(["w"])
    assert by_keys(floats, (0,), odd).table.num_rows == 2


def test_only_alike_values_are_compared_in_the_driver() -> None:
    def keys(type_: pa.DataType) -> pa.Table:
        return pa.table([pa.array([], type_)], ["c0"])

    for type_ in (pa.int16(), pa.int64(), pa.decimal128(38, 4)):
        assert can_pick(rows(INTEGER, (1, 1)), (0,), keys(type_))
    for type_ in (pa.float64(), pa.string(), pa.date32()):
        assert not can_pick(rows(INTEGER, (1, 1)), (0,), keys(type_))
    days = Rows(pa.table([pa.array([0], pa.date32()), pa.array([1])], ["c0", "w"]), ())
    assert can_pick(days, (0,), keys(pa.date32()))
    assert not can_pick(days, (0,), keys(pa.timestamp("us")))


def test_rows_by_keys_of_several_columns() -> None:
    one = numbers((1, 1), (1, 1), (None, 1))
    table = one.table.add_column(1, "c1", pa.array([5, 6, 5], pa.int32()))
    pairs = Rows(table, one.carriers * 2)
    keys = pa.table([pa.array([5, 5], pa.int32()), pa.array([None, 2], pa.int32())], ["c0", "c1"])
    assert by_keys(pairs, (1, 0), keys).table.to_pylist() == [{"c0": None, "c1": 5, "w": 1}]
