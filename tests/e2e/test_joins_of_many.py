"""Joins of several tables that change at once: two joins of the rows that the changes lead to."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession

from helpers import assert_all_stay_exact, create_exact, refresh_exact, script
from pgstream.catalog.records import Action
from pgstream.client import PgStream
from pgstream.engine.postgres.leaves import Leaves
from pgstream.engine.spark.times import Times
from ways import send

# Lines have no key: some are there twice. Parts are partitioned, and some have no maker.
TABLES = (
    "CREATE TABLE makers (id int PRIMARY KEY, name text)",
    "CREATE TABLE parts (id int PRIMARY KEY, maker int, price numeric(8,2))"
    " PARTITION BY RANGE (id)",
    "CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (25)",
    "CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (25) TO (1000)",
    "CREATE TABLE customers (id int PRIMARY KEY, name text, boss int)",
    "CREATE TABLE orders (id int PRIMARY KEY, customer int, day date)",
    "CREATE TABLE lines (order_id int, part int, quantity int)",
    "INSERT INTO makers SELECT i, 'maker ' || i FROM generate_series(1, 6) i",
    "INSERT INTO parts SELECT i, nullif(i % 7, 0), i * 1.5 FROM generate_series(1, 50) i",
    "INSERT INTO customers SELECT i, 'customer ' || i, nullif(i / 3, 0)"
    " FROM generate_series(1, 20) i",
    "INSERT INTO orders SELECT i, nullif(i % 21, 0), date '2026-01-01' + i % 30"
    " FROM generate_series(1, 120) i",
    "INSERT INTO lines SELECT i % 120, i % 51, i % 4 FROM generate_series(1, 480) i",
    "INSERT INTO lines SELECT i % 10, i % 5, 1 FROM generate_series(1, 40) i",
    "ANALYZE",
)
ALL = (
    "FROM lines l JOIN orders o ON l.order_id = o.id JOIN customers c ON o.customer = c.id"
    " JOIN parts p ON l.part = p.id JOIN makers m ON p.maker = m.id"
)
QUERIES = (
    f"SELECT c.name, m.name AS maker, o.day, l.quantity, p.price {ALL}",
    f"SELECT m.name, sum(p.price * l.quantity) AS total, min(o.day) AS first {ALL}"
    " WHERE l.quantity > 0 GROUP BY m.name",
    # A table twice, and a condition over three of them.
    "SELECT c.name, b.name AS boss, o.id, l.part FROM customers c JOIN customers b ON c.boss = b.id"
    " JOIN orders o ON o.customer = c.id JOIN lines l ON l.order_id = o.id AND l.quantity < b.id",
    # NULLs that match, and groups beside tables.
    "SELECT p.id, q.n, m.name FROM parts p JOIN makers m ON p.maker IS NOT DISTINCT FROM m.id"
    " JOIN (SELECT part, count(*) AS n FROM lines GROUP BY part) q ON q.part = p.id",
    # Above the joins: what is local to keys of several tables.
    f"SELECT c.id, p.id AS part, count(DISTINCT l.quantity) AS n {ALL} GROUP BY c.id, p.id",
    f"SELECT DISTINCT c.name, m.name AS maker {ALL}",
)
# Rows with and without partners, of joins: both sides change. Some keys are NULL.
BESIDE = (
    "SELECT o.id, c.name FROM orders o JOIN customers c ON o.customer = c.id"
    " WHERE EXISTS (SELECT FROM lines l WHERE l.order_id = o.id AND l.quantity > c.id % 3)"
    " AND NOT EXISTS (SELECT FROM lines l JOIN parts p ON l.part = p.id"
    "                 WHERE l.order_id = o.id AND p.price < l.quantity * c.id)",
    "SELECT o.id, c.name, b.name AS boss, l.part FROM orders o"
    " LEFT JOIN customers c ON o.customer = c.id LEFT JOIN customers b ON c.boss = b.id"
    " LEFT JOIN lines l ON l.order_id = o.id AND l.quantity > 1",
    "SELECT c.id, d.name, b.name AS boss FROM customers c JOIN customers d ON c.id = d.id"
    " LEFT JOIN customers b ON c.boss = b.id"
    " WHERE NOT EXISTS (SELECT FROM orders o WHERE o.customer = c.boss AND o.day > '2026-01-25')",
)
EVERYWHERE = (
    "UPDATE makers SET name = name || '!' WHERE id = 3;"
    " UPDATE parts SET maker = 4 WHERE id IN (3, 30);"
    " UPDATE customers SET boss = 2 WHERE id = 7; UPDATE orders SET customer = 7 WHERE id = 9;"
    " INSERT INTO lines VALUES (9, 3, 1), (9, 3, 1), (9, 30, 2)",
    # Rows that several changes lead to, some of them gone; partners come with those they fit.
    "DELETE FROM makers WHERE id = 4; INSERT INTO makers VALUES (7, 'new');"
    " UPDATE parts SET maker = 7 WHERE maker = 4 OR maker IS NULL;"
    " DELETE FROM customers WHERE id = 7; UPDATE orders SET customer = 8 WHERE customer = 7;"
    " DELETE FROM lines WHERE (order_id, part) = (9, 3);"
    " UPDATE lines SET order_id = 9 WHERE order_id = 5",
    "UPDATE parts SET id = id + 100 WHERE id < 10; UPDATE lines SET part = part + 100"
    " WHERE part < 5; UPDATE orders SET day = day + 1 WHERE id % 40 = 0;"
    " UPDATE customers SET name = 'x' WHERE id = 1; UPDATE makers SET id = 8 WHERE id = 1",
)


@pytest.fixture
def shop(ps: PgStream) -> PgStream:
    script(ps, *TABLES)
    return ps


def test_all_tables_change_at_once(shop: PgStream) -> None:
    assert_all_stay_exact(shop, QUERIES, EVERYWHERE)


def test_both_sides_change_of_joins_with_and_without_partners(shop: PgStream) -> None:
    assert_all_stay_exact(shop, BESIDE, EVERYWHERE)


def test_executors_read_the_rows(shop: PgStream) -> None:
    send(shop, "slices")
    assert_all_stay_exact(shop, (*QUERIES[1:3], *BESIDE[:2]), EVERYWHERE[:2])


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What Spark is asked."""
    found, analysed = list[str](), Times.analysed

    def noted(times: Times, session: SparkSession, statement: str) -> DataFrame:
        found.append(statement)
        return analysed(times, session, statement)

    monkeypatch.setattr(Times, "analysed", noted)
    return found


def test_executors_find_rows_that_others_found(
    shop: PgStream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The driver has no room for what is looked up: Spark itself takes each row once."""
    monkeypatch.setattr(Leaves, "_fits", lambda self, scan, query: scan.source.name != "lines")
    assert_all_stay_exact(shop, QUERIES[:2], EVERYWHERE)


def test_a_layer_and_what_it_reads_change(shop: PgStream) -> None:
    """The stream table below has a pending change, a table beside it a committed one."""
    create_exact(shop, "priced", "SELECT id, maker, price * 2 AS price FROM parts WHERE price > 5")
    above = ALL.replace("parts p", "priced p")
    create_exact(shop, "st", f"SELECT c.name, m.name AS maker, p.price, l.quantity {above}")
    for change in EVERYWHERE:
        shop.execute(change)
        refresh_exact(shop, "st", "priced")


@pytest.mark.usual_way
def test_no_row_is_read_that_the_plain_rule_does_not_read(shop: PgStream) -> None:
    """A line and its order change: its partners are read, and the other lines of the order."""
    create_exact(shop, "st", QUERIES[0])
    shop.execute(
        "UPDATE orders SET day = day + 1 WHERE id = 60; UPDATE makers SET name = 'm' WHERE id = 6;"
        "UPDATE customers SET name = 'c' WHERE id = 1; DELETE FROM orders WHERE id = 61"
    )
    result = refresh_exact(shop, "st")
    assert result.action is Action.DIFFERENTIAL
    assert result.spark_actions == 1
    everything = shop.execute("SELECT count(*) FROM lines")[0][0]
    assert 0 < result.rows_read < everything


def test_a_table_before_its_change_is_one_relation_of_the_statement(
    ps: PgStream, said: list[str]
) -> None:
    """What was looked up, less what has changed of it: the driver puts it together."""
    script(ps, *TABLES)
    query = "SELECT o.day, sum(l.quantity) AS n FROM orders o JOIN lines l ON l.order_id = o.id"
    create_exact(ps, "st", query + " GROUP BY o.day")
    script(ps, "UPDATE orders SET day = day + 1 WHERE id < 40", "UPDATE lines SET quantity = 9")
    said.clear()
    assert refresh_exact(ps, "st").action is Action.DIFFERENTIAL
    (statement,) = said
    assert (statement.count("UNION ALL"), statement.count(" JOIN ")) == (1, 2)


def test_a_value_after_its_change_is_one_row_of_the_statement(
    ps: PgStream, said: list[str]
) -> None:
    """Before the change, less what went, and what came: of n values beside each other three rows
    each would make 3ⁿ rows."""
    script(ps, *TABLES)
    values = [f"(SELECT avg(quantity + {i}) FROM lines) AS v{i}" for i in range(8)]
    create_exact(ps, "st", f"SELECT name, {', '.join(values)} FROM makers WHERE id = 1")
    script(ps, "UPDATE lines SET quantity = quantity + 1 WHERE part = 7")
    said.clear()
    assert refresh_exact(ps, "st").action is Action.DIFFERENTIAL
    assert said[-1].count("UNION ALL") == len(values) - 1
