"""The account of what a refresh holds in the driver."""

from __future__ import annotations

import pyarrow as pa

from pgstream.algebra.types import BIGINT, NUMERIC, TEXT
from pgstream.engine.ways import Ways, width_of


def test_few_rows_of_few_bytes_pass_through_the_driver() -> None:
    ways = Ways(most_rows=100, most_bytes=1000)
    assert ways.through_driver(100, 10)
    assert not ways.through_driver(101, 1)
    assert not ways.through_driver(100, 11)


def test_what_is_held_is_entered_as_it_is() -> None:
    ways = Ways(most_rows=100, most_bytes=1000)
    ways.hold(pa.table({"c0": pa.array(range(100), pa.int64())}))
    assert ways.held == 800
    assert ways.through_driver(20, 10)
    assert not ways.through_driver(21, 10)
    ways.hold(pa.table({"c0": pa.array(range(100), pa.int64())}))
    assert not ways.has_room(0)


def test_nothing_has_room_without_bytes() -> None:
    ways = Ways(most_rows=100, most_bytes=0)
    assert ways.through_driver(0, 50)
    assert not ways.through_driver(1, 50)


def test_widths_by_type() -> None:
    assert width_of([]) == 8  # the weight
    assert width_of([BIGINT, TEXT, NUMERIC]) == 8 + 8 + 32 + 32
