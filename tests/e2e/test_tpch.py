"""Six tables of the TPC-H kind, joined and grouped: a change costs the same in larger tables.

A region has five nations, a nation four customers and two suppliers, a customer three orders, an
order two items: always, so that the rows which a change touches do not become more. Each table has
its primary key, and an index on what refers to another table.
"""

from __future__ import annotations

import pytest

from helpers import create_exact, refresh_exact, script
from pgstream.catalog.records import Action
from pgstream.client import PgStream

pytestmark = pytest.mark.usual_way
TABLES = """
CREATE TABLE region (r_regionkey int PRIMARY KEY, r_name text NOT NULL);
CREATE TABLE nation (
    n_nationkey int PRIMARY KEY, n_name text NOT NULL, n_regionkey int REFERENCES region);
CREATE TABLE supplier (
    s_suppkey int PRIMARY KEY, s_name text NOT NULL, s_nationkey int REFERENCES nation);
CREATE TABLE customer (
    c_custkey int PRIMARY KEY, c_name text NOT NULL, c_nationkey int REFERENCES nation);
CREATE TABLE orders (
    o_orderkey int PRIMARY KEY, o_custkey int REFERENCES customer, o_orderdate date,
    o_totalprice numeric(12,2));
CREATE TABLE lineitem (
    l_orderkey int REFERENCES orders, l_linenumber int, l_suppkey int REFERENCES supplier,
    l_extendedprice numeric(12,2), l_discount numeric(4,2), PRIMARY KEY (l_orderkey, l_linenumber));
CREATE INDEX ON nation (n_regionkey);
CREATE INDEX ON supplier (s_nationkey);
CREATE INDEX ON customer (c_nationkey);
CREATE INDEX ON orders (o_custkey);
CREATE INDEX ON lineitem (l_suppkey)
"""

# A region r has the nations 5r to 5r + 4, and so on down.
ROWS = (
    "INSERT INTO region SELECT r, 'region ' || r FROM generate_series({first}, {last}) r",
    "INSERT INTO nation SELECT n, 'nation ' || n, n / 5"
    " FROM generate_series({first} * 5, {last} * 5 + 4) n",
    "INSERT INTO supplier SELECT s, 'supplier ' || s, s / 2"
    " FROM generate_series({first} * 10, {last} * 10 + 9) s",
    "INSERT INTO customer SELECT c, 'customer ' || c, c / 4"
    " FROM generate_series({first} * 20, {last} * 20 + 19) c",
    "INSERT INTO orders SELECT o, o / 3, date '2026-01-01' + o % 90, o % 1000 + 0.5"
    " FROM generate_series({first} * 60, {last} * 60 + 59) o",
    "INSERT INTO lineitem SELECT i / 2, i % 2, i / 24 * 2 + i % 2, i % 977 + 0.25, i % 10 / 100.0"
    " FROM generate_series({first} * 120, {last} * 120 + 119) i",
    "ANALYZE",
)
SCALE = 10

REVENUE = """
SELECT n_name, sum(l_extendedprice * (1 - l_discount)) AS revenue, count(*) AS items
FROM customer JOIN orders ON c_custkey = o_custkey JOIN lineitem ON l_orderkey = o_orderkey
JOIN supplier ON l_suppkey = s_suppkey AND c_nationkey = s_nationkey
JOIN nation ON s_nationkey = n_nationkey JOIN region ON n_regionkey = r_regionkey
WHERE r_name LIKE 'region%' AND o_orderdate >= date '2026-01-01'
GROUP BY n_name
"""
# The aggregate is inside the join: it has no stored counts, its groups are read again by key.
BEST_CUSTOMERS = """
SELECT c_name, n_name, spent, last_order FROM customer JOIN nation ON c_nationkey = n_nationkey
JOIN (SELECT o_custkey, sum(o_totalprice) AS spent, max(o_orderdate) AS last_order
      FROM orders GROUP BY o_custkey) q ON o_custkey = c_custkey
WHERE spent > 100
"""

# One row each, and then back, so that the same changes can be made again.
CHANGES = {
    "region": (
        "UPDATE region SET r_name = 'another name' WHERE r_regionkey = 3",
        "UPDATE region SET r_name = 'region 3' WHERE r_regionkey = 3",
    ),
    "nation": (
        "UPDATE nation SET n_name = 'nation 18' WHERE n_nationkey = 17",
        "UPDATE nation SET n_name = 'new', n_regionkey = 4 WHERE n_nationkey = 17",
        "UPDATE nation SET n_name = 'nation 17', n_regionkey = 3 WHERE n_nationkey = 17",
    ),
    "supplier": (
        "UPDATE supplier SET s_nationkey = 18 WHERE s_suppkey = 34",
        "UPDATE supplier SET s_nationkey = 17 WHERE s_suppkey = 34",
    ),
    "customer": (
        "UPDATE customer SET c_nationkey = 18 WHERE c_custkey = 68",
        "UPDATE customer SET c_nationkey = 17 WHERE c_custkey = 68",
    ),
    "orders": (
        "UPDATE orders SET o_custkey = 69 WHERE o_orderkey = 204",
        "UPDATE orders SET o_custkey = 68, o_orderdate = '2025-12-31' WHERE o_orderkey = 204",
        "UPDATE orders SET o_orderdate = date '2026-01-01' + 204 % 90 WHERE o_orderkey = 204",
        "INSERT INTO orders VALUES (-1, 68, '2026-02-03', 70)",
        "DELETE FROM orders WHERE o_orderkey = -1",
    ),
    "lineitem": (
        "INSERT INTO lineitem VALUES (204, 9, 34, 100, 0.5)",
        "UPDATE lineitem SET l_extendedprice = 1 WHERE (l_orderkey, l_linenumber) = (204, 9)",
        "UPDATE lineitem SET l_orderkey = 205 WHERE (l_orderkey, l_linenumber) = (204, 9)",
        "DELETE FROM lineitem WHERE (l_orderkey, l_linenumber) = (205, 9)",
    ),
}


@pytest.fixture
def warehouse(ps: PgStream) -> PgStream:
    ps.execute(TABLES)
    grow(ps, 1, SCALE)
    return ps


def grow(ps: PgStream, first: int, last: int) -> None:
    script(ps, *(statement.format(first=first, last=last) for statement in ROWS))


def costs(ps: PgStream, name: str, changes: tuple[str, ...]) -> list[int]:
    """What each change makes the refresh read."""
    read = []
    for change in changes:
        ps.execute(change)
        result = refresh_exact(ps, name)
        wanted = (Action.DIFFERENTIAL, Action.NO_DATA)
        assert result.action in wanted, f"{change}: {result.reason}"
        read.append(result.rows_read)
    return read


def assert_cost_does_not_grow(ps: PgStream, query: str, tables: tuple[str, ...]) -> None:
    """The tables are made ten times as large in between."""
    create_exact(ps, "st", query)
    before = {table: costs(ps, "st", CHANGES[table]) for table in tables}
    grow(ps, SCALE + 1, 10 * SCALE)
    refresh_exact(ps, "st")
    after = {table: costs(ps, "st", CHANGES[table]) for table in tables}
    assert after == before
    assert any(read > 0 for table in before.values() for read in table)


def test_a_change_of_one_row_in_six_joined_and_grouped_tables(warehouse: PgStream) -> None:
    assert_cost_does_not_grow(warehouse, REVENUE, tuple(CHANGES))


def test_a_change_of_one_row_below_a_nested_aggregate(warehouse: PgStream) -> None:
    assert_cost_does_not_grow(warehouse, BEST_CUSTOMERS, ("orders", "customer", "nation"))
