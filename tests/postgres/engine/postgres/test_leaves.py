"""Tables are read through the driver as long as it has room, and by executors beyond."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from pgstream.algebra.operators.node import Keys
from pgstream.algebra.operators.parameter import Parameter
from pgstream.algebra.operators.ranges import Ranges
from pgstream.algebra.operators.scan import Field, Lookup, Scan, Source, Stored
from pgstream.algebra.types import BIGINT, TEXT
from pgstream.engine.postgres.leaves import Leaves
from pgstream.engine.rows import Bound, Large, Rows
from pgstream.engine.ways import Ways
from pgstream.engine.zsets import each_once

FIELDS = (Field("id", BIGINT), Field("k", BIGINT), Field("name", TEXT))
T = Stored(Scan(Source(1, "public", "t", False), FIELDS))
BY_K = Lookup(T, (1,), Keys(Parameter("keys", T.columns), (1,)))
BY_RANGE = Lookup(T, (1, 0), Ranges(Parameter("keys", T.columns), (1,), True, 0))


@pytest.fixture
def connection(database: Any) -> Any:
    connection = database.connect()
    connection.execute("CREATE TABLE t (id bigint, k bigint, name text)")
    connection.execute("INSERT INTO t SELECT i, i % 10, 'n' || i FROM generate_series(1, 1000) i")
    connection.execute("ANALYZE t")
    return connection


def numbers(*columns: list[int]) -> pa.Table:
    return pa.table({f"c{i}": pa.array(c, pa.int64()) for i, c in enumerate(columns)})


def leaves(connection: Any, most_rows: int, most_bytes: int) -> Leaves:
    return Leaves(connection, Ways(most_rows, most_bytes), slices=2)


def test_with_room_all_passes_through_the_driver(connection: Any) -> None:
    read = leaves(connection, 1000, 1_000_000)
    found = read.lookup(BY_K, numbers([3, 4]))
    assert isinstance(found, Rows)
    assert found.table.num_rows == read.rows_read == 200
    assert read.ways.held == found.table.nbytes
    assert read.lookup(BY_K, numbers([3, 4])) is found
    some = read.lookup(BY_RANGE, numbers([3, 4], [1, 1], [103, 14]))
    assert isinstance(some, Rows)
    assert sorted(some.table.column(0).to_pylist()) == [3, 4, 13, 14, *range(23, 104, 10)]
    whole = read.stored(T)
    assert isinstance(whole, Rows)
    assert whole.table.num_rows == 1000


def test_rows_that_were_read_by_more_keys_are_not_read_again(connection: Any) -> None:
    read = leaves(connection, 1000, 1_000_000)
    read.lookup(BY_K, numbers([3, 4, 5]))
    fewer = read.lookup(BY_K, numbers([3, 5]))
    assert fewer is not None
    assert ids(connection, fewer) == [i for i in range(1, 1001) if i % 10 in (3, 5)]
    assert read.rows_read == 300
    more = read.lookup(BY_K, numbers([3, 6]))
    assert more is not None
    assert ids(connection, more) == [i for i in range(1, 1001) if i % 10 in (3, 6)]
    assert read.rows_read == 300 + 200


def test_what_the_scan_asks_is_asked_of_every_row_that_is_read(connection: Any) -> None:
    asking = Stored(replace(T.scan, where="id <= 100"))
    for most_bytes in (1_000_000, 0):
        read = leaves(connection, 1000, most_bytes)
        found = read.lookup(replace(BY_K, stored=asking), numbers([3, 4]))
        assert found is not None
        assert read.rows_read == len(ids(connection, found)) == 20
        assert ids(connection, read.stored(asking)) == list(range(1, 101))
    read = leaves(connection, 1000, 1_000_000)
    some = read.lookup(replace(BY_RANGE, stored=asking), numbers([3, 4], [1, 1], [103, 14]))
    assert some is not None
    assert ids(connection, some) == [3, 4, 13, 14, *range(23, 100, 10)]


def ids(connection: Any, found: Bound) -> list[int]:
    if isinstance(found, Rows):
        return sorted(found.table.column(0).to_pylist())
    assert isinstance(found, Large)
    rows = [row for query in found.queries for row in connection.execute(query).fetchall()]
    return sorted(row[0] for row in rows)


def test_what_has_no_room_is_left_to_executors(connection: Any) -> None:
    read = leaves(connection, 1000, 3000)
    few = read.lookup(BY_K, numbers([3]))
    assert isinstance(few, Rows)
    held = read.ways.held
    more = read.lookup(BY_K, numbers([4, 5, 6]))
    assert isinstance(more, Large)
    assert more.rows == 300
    assert isinstance(read.stored(T), Large)
    assert read.lookup(BY_RANGE, numbers([3, 4], [1, 1], [1000, 1000])) is None
    assert read.ways.held == held
    assert read.rows_read == 100 + 300 + 1000


def test_slices_of_a_lookup_are_its_rows(connection: Any) -> None:
    found = leaves(connection, 1000, 0).lookup(BY_K, numbers([4, 5]))
    assert isinstance(found, Large)
    rows = [row for query in found.queries for row in connection.execute(query).fetchall()]
    assert sorted(row[0] for row in rows) == [i for i in range(1, 1001) if i % 10 in (4, 5)]


def test_too_many_keys_and_none(connection: Any) -> None:
    read = leaves(connection, 5, 1_000_000)
    assert read.lookup(BY_K, numbers(list(range(6)))) is None
    nothing = read.lookup(BY_K, numbers([]))
    assert isinstance(nothing, Rows)
    assert nothing.table.num_rows == 0
    assert isinstance(read.stored(T), Large)


def test_places_tell_rows_of_partitions_apart(connection: Any) -> None:
    connection.execute("CREATE TABLE p (id bigint, k bigint, name text) PARTITION BY LIST (k)")
    connection.execute("CREATE TABLE p_1 PARTITION OF p FOR VALUES IN (1)")
    connection.execute("CREATE TABLE p_2 PARTITION OF p FOR VALUES IN (2)")
    connection.execute("INSERT INTO p VALUES (1, 1, 'a'), (1, 1, 'a'), (1, 2, 'a')")
    stored = Stored(Scan(Source(2, "public", "p", False), FIELDS))
    keys = Parameter("keys", T.columns)
    ways = [Lookup(stored, (i,), Keys(keys, (i,)), placed=True) for i in (0, 1)]
    read = leaves(connection, 1000, 1_000_000)
    found = [read.lookup(way, numbers([1])) for way in ways]
    assert all(isinstance(rows, Rows) and rows.table.num_columns == 4 for rows in found)
    parts = [rows for rows in found if isinstance(rows, Rows)]
    assert [rows.table.num_rows for rows in parts] == [3, 2]
    assert sorted(each_once(parts).table.column(1).to_pylist()) == [1, 1, 2]
