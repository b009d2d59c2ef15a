"""Joins: both sides change, keys change, partners vanish, in one window."""

from __future__ import annotations

import pytest

from helpers import assert_exact, create_exact, refresh_exact, rows, script
from pgstream.catalog.records import Action
from pgstream.client import PgStream

JOIN = "SELECT o.id, o.amount, c.name FROM orders o JOIN customers c ON o.customer = c.id"


@pytest.fixture
def shop(ps: PgStream) -> PgStream:
    script(
        ps,
        "CREATE TABLE customers (id int PRIMARY KEY, name text, boss int)",
        "CREATE TABLE orders (id int PRIMARY KEY, customer int, amount numeric(10,2))",
        "INSERT INTO customers VALUES (1, 'ann', NULL), (2, 'bob', 1), (3, NULL, 1), (4, 'dan', 2)",
        "INSERT INTO orders SELECT i, i % 5, i * 1.25 FROM generate_series(1, 20) i",
    )
    return ps


def test_key_changes_while_the_partner_is_deleted(shop: PgStream) -> None:
    create_exact(shop, "st", JOIN)
    with shop.connection.transaction():
        shop.execute("UPDATE orders SET customer = 1 WHERE customer = 2")
        shop.execute("DELETE FROM customers WHERE id = 2")
    result = refresh_exact(shop, "st")
    assert result.action is Action.DIFFERENTIAL
    script(
        shop,
        "UPDATE orders SET customer = 3 WHERE customer = 1",
        "DELETE FROM customers WHERE id = 3",
    )
    refresh_exact(shop, "st")
    script(
        shop,
        "INSERT INTO customers VALUES (3, 'back', 1)",
        "UPDATE orders SET customer = 4 WHERE id < 10 AND customer = 3",
    )
    refresh_exact(shop, "st")


def test_key_of_the_partner_moves_onto_the_rows(shop: PgStream) -> None:
    create_exact(shop, "st", JOIN)
    script(
        shop,
        "UPDATE customers SET id = id + 100",
        "UPDATE orders SET customer = customer + 100 WHERE customer IN (1, 2)",
        "UPDATE customers SET id = id - 100 WHERE id = 103",
    )
    refresh_exact(shop, "st")


@pytest.mark.smoke("capture", "storage", "refresh")
def test_both_sides_change_at_once(shop: PgStream) -> None:
    create_exact(shop, "st", JOIN)
    script(
        shop,
        "UPDATE customers SET name = 'new ' || name",
        "UPDATE orders SET amount = amount + 1",
        "INSERT INTO customers VALUES (0, 'zero', 1)",
        "INSERT INTO orders VALUES (100, 0, 5), (101, 9, 5)",
        "DELETE FROM orders WHERE id % 7 = 0",
    )
    result = refresh_exact(shop, "st")
    assert result.action is Action.DIFFERENTIAL
    script(shop, "DELETE FROM orders", "DELETE FROM customers")
    refresh_exact(shop, "st")
    assert rows(shop, "st") == []
    script(shop, "INSERT INTO customers VALUES (1, 'a')", "INSERT INTO orders VALUES (1, 1, 1)")
    refresh_exact(shop, "st")


def test_self_join(shop: PgStream) -> None:
    create_exact(
        shop,
        "st",
        "SELECT c.id, c.name, b.name AS boss FROM customers c JOIN customers b ON c.boss = b.id",
    )
    script(
        shop,
        "UPDATE customers SET boss = 4 WHERE id = 3",
        "UPDATE customers SET name = 'boss' WHERE id = 1",
        "INSERT INTO customers VALUES (5, 'eve', 5), (6, 'fox', 5)",
    )
    refresh_exact(shop, "st")
    script(shop, "DELETE FROM customers WHERE id = 1", "UPDATE customers SET boss = 6 WHERE id = 2")
    refresh_exact(shop, "st")


def test_self_join_of_all_pairs_in_a_group(shop: PgStream) -> None:
    create_exact(
        shop,
        "st",
        "SELECT a.customer, count(*) AS pairs, sum(a.amount * b.amount) AS products"
        " FROM orders a JOIN orders b ON a.customer = b.customer AND a.id < b.id"
        " GROUP BY a.customer",
    )
    script(
        shop,
        "UPDATE orders SET customer = 1 WHERE id IN (2, 3)",
        "DELETE FROM orders WHERE id = 6",
        "INSERT INTO orders VALUES (30, 1, 2.50), (31, 7, 1)",
    )
    refresh_exact(shop, "st")
    script(shop, "UPDATE orders SET id = id + 50 WHERE id % 2 = 0")
    refresh_exact(shop, "st")


def test_chain_of_three(shop: PgStream) -> None:
    script(
        shop,
        "CREATE TABLE lines (order_id int, item text, pieces int)",
        "INSERT INTO lines SELECT i % 23, 'item ' || i % 4, i FROM generate_series(1, 60) i",
    )
    create_exact(
        shop,
        "st",
        "SELECT c.name, l.item, l.pieces * o.amount AS worth FROM customers c"
        " JOIN orders o ON o.customer = c.id JOIN lines l ON l.order_id = o.id"
        " WHERE l.pieces > 2",
    )
    script(
        shop,
        "UPDATE customers SET id = 0 WHERE id = 4",
        "UPDATE orders SET customer = 0 WHERE id = 7",
        "DELETE FROM orders WHERE id IN (3, 5)",
        "UPDATE lines SET order_id = 7 WHERE pieces < 9",
        "INSERT INTO lines VALUES (7, NULL, 3), (7, NULL, 3), (NULL, 'x', 4)",
    )
    result = refresh_exact(shop, "st")
    assert result.action is Action.DIFFERENTIAL
    script(shop, "DELETE FROM customers WHERE id = 1", "UPDATE lines SET pieces = pieces + 1")
    refresh_exact(shop, "st")


def test_cross_join(shop: PgStream) -> None:
    create_exact(shop, "st", "SELECT o.id, c.name FROM orders o CROSS JOIN customers c")
    script(
        shop,
        "DELETE FROM customers WHERE id = 2",
        "UPDATE customers SET name = 'x' WHERE id = 3",
        "DELETE FROM orders WHERE id > 5",
        "INSERT INTO orders VALUES (50, 1, 1)",
    )
    refresh_exact(shop, "st")
    script(shop, "DELETE FROM customers")
    refresh_exact(shop, "st")
    script(shop, "INSERT INTO customers VALUES (9, 'nine')", "DELETE FROM orders WHERE id = 1")
    refresh_exact(shop, "st")


def test_comma_join_with_an_inequality(shop: PgStream) -> None:
    create_exact(
        shop, "st", "SELECT o.id, c.id AS other FROM orders o, customers c WHERE o.customer < c.id"
    )
    script(
        shop,
        "UPDATE customers SET id = 7 WHERE id = 1",
        "UPDATE orders SET customer = NULL WHERE id < 4",
    )
    refresh_exact(shop, "st")


def test_comma_join_with_equality(shop: PgStream) -> None:
    create_exact(
        shop,
        "st",
        "SELECT o.id, c.name, b.name AS boss FROM orders o, customers c, customers b"
        " WHERE o.customer = c.id AND c.boss = b.id AND o.amount > 2",
    )
    script(
        shop,
        "UPDATE customers SET boss = 4 WHERE id = 2",
        "DELETE FROM customers WHERE id = 1",
        "UPDATE orders SET amount = 1 WHERE id % 3 = 0",
    )
    refresh_exact(shop, "st")


def test_using(ps: PgStream) -> None:
    script(
        ps,
        "CREATE TABLE a (k int, l text, x int)",
        "CREATE TABLE b (l text, k int, y int)",
        "CREATE TABLE c (k int, z int)",
        "INSERT INTO a VALUES (1, 'p', 1), (1, 'p', 1), (2, 'q', 2), (NULL, 'p', 3), (3, NULL, 4)",
        "INSERT INTO b VALUES ('p', 1, 10), ('p', 1, 10), ('q', 2, 20), (NULL, 3, 30)",
        "INSERT INTO c VALUES (1, 5), (2, 6), (NULL, 7)",
    )
    create_exact(ps, "st", "SELECT * FROM a JOIN b USING (k, l) JOIN c USING (k)")
    script(
        ps,
        "INSERT INTO b VALUES ('p', NULL, 5), (NULL, NULL, 6)",
        "UPDATE a SET k = 2, l = 'q' WHERE ctid = (SELECT min(ctid) FROM a)",
        "DELETE FROM c WHERE z = 5",
    )
    refresh_exact(ps, "st")
    script(ps, "INSERT INTO c VALUES (1, 5), (1, 5)", "UPDATE b SET y = y + 1")
    refresh_exact(ps, "st")


def test_null_keys_and_duplicates_without_primary_keys(ps: PgStream) -> None:
    script(
        ps,
        "CREATE TABLE a (k int, x text)",
        "CREATE TABLE b (k int, y text)",
        "INSERT INTO a VALUES (1, 'x'), (1, 'x'), (NULL, 'x'), (NULL, NULL), (2, NULL)",
        "INSERT INTO b VALUES (1, 'y'), (1, 'y'), (1, NULL), (NULL, 'y'), (2, 'y')",
    )
    create_exact(ps, "st", "SELECT a.k, x, y FROM a JOIN b ON a.k = b.k")
    create_exact(ps, "bag", "SELECT x FROM a JOIN b ON a.k = b.k")
    for change in (
        "DELETE FROM a WHERE ctid = (SELECT min(ctid) FROM a)",
        "INSERT INTO b VALUES (NULL, 'z'), (1, 'y')",
        "UPDATE a SET k = 1 WHERE k IS NULL",
        "UPDATE b SET k = NULL WHERE ctid = (SELECT min(ctid) FROM b WHERE k = 1)",
        "UPDATE a SET k = NULL",
    ):
        ps.execute(change)
        refresh_exact(ps, "st")
        refresh_exact(ps, "bag")


KEYS = {
    "text": ("text", "text", "'a', 'A', 'ä', '', ' a', 'a ', E'back\\\\slash', 'quo''te'"),
    "varchar": ("varchar(10)", "text", "'a', 'b', '', 'é', '{x,y}', 'NULL', '\"'"),
    "char": ("char(3)", "char(3)", "'abc', 'abd', 'a', 'ab', ''"),
    "char and text": ("char(3)", "text", "'abc', 'abd', 'a', 'ab', ''"),
    "numeric": ("numeric(8,2)", "numeric", "1, 1.5, 1.50, -0.01, 0"),
    "integers": ("smallint", "bigint", "1, 2, -3, 0, 32767"),
    "integer and numeric": ("int", "numeric", "1, 2, -3, 0"),
    "double": ("double precision", "double precision", "0.5, -0.25, 0, 1e300, 'NaN', 'Infinity'"),
    "date": ("date", "date", "'2024-02-29', '0001-01-01', '9999-12-31', 'infinity'"),
    "timestamp": ("timestamp", "timestamp", "'2024-02-29 01:02:03.000004', 'infinity', 'epoch'"),
    "timestamptz": ("timestamptz", "timestamptz", "'2024-03-31 02:30+02', '1999-12-31 23:59-11'"),
    "uuid": ("uuid", "uuid", "'00000000-0000-0000-0000-000000000001', "
             "'FFFFFFFF-0000-0000-0000-00000000000A'"),
    "boolean": ("boolean", "boolean", "true, false"),
    "bytea": ("bytea", "bytea", "'\\x00ff', '\\x'"),
    "time": ("time", "time", "'01:02:03.5', '23:59'"),
    "inet": ("inet", "inet", "'10.0.0.1', '10.0.0.0/8', '::1'"),
}  # fmt: skip


@pytest.mark.parametrize("name", KEYS)
def test_types_of_join_keys(ps: PgStream, name: str) -> None:
    left, right, values = KEYS[name]
    listed = ", ".join(f"({value.strip()})" for value in values.split(", "))
    script(
        ps,
        f"CREATE TABLE a (k {left}, x int)",
        f"CREATE TABLE b (k {right}, y int)",
        f"INSERT INTO a SELECT v::{left}, row_number() OVER () FROM (VALUES {listed}) t(v)",
        f"INSERT INTO b SELECT v::{right}, row_number() OVER () FROM (VALUES {listed}) t(v)",
        "INSERT INTO a VALUES (NULL, 0)",
        "INSERT INTO b VALUES (NULL, 0)",
    )
    create_exact(ps, "st", "SELECT a.k, a.x, b.k AS other, b.y FROM a JOIN b ON a.k = b.k")
    create_exact(ps, "grouped", "SELECT k, count(*) AS n, sum(x) AS total FROM a GROUP BY k")
    for change in (
        "UPDATE a SET x = x + 100",
        "UPDATE b SET y = y + 100",
        "UPDATE a SET k = (SELECT k FROM b WHERE y = 101) WHERE x = 102",
        "DELETE FROM b WHERE y = 101",
        "INSERT INTO b SELECT k, y + 1000 FROM b",
    ):
        ps.execute(change)
        refresh_exact(ps, "st")
        refresh_exact(ps, "grouped")


def test_join_on_expressions(shop: PgStream) -> None:
    create_exact(
        shop,
        "st",
        "SELECT o.id, c.name FROM orders o JOIN customers c ON o.customer + 1 = c.id * 2",
    )
    script(
        shop,
        "UPDATE orders SET customer = 3 WHERE id < 9",
        "UPDATE customers SET id = 10 WHERE id = 1",
    )
    refresh_exact(shop, "st")
    create_exact(
        shop,
        "upper",
        "SELECT a.id, b.id AS other FROM customers a JOIN customers b ON upper(a.name) = b.name",
    )
    script(
        shop,
        "INSERT INTO customers VALUES (20, 'ANN', 1), (21, 'Bob', 1)",
        "UPDATE customers SET name = 'BOB' WHERE id = 4",
    )
    refresh_exact(shop, "upper")
    refresh_exact(shop, "st")


def test_join_of_grouped_subqueries(shop: PgStream) -> None:
    create_exact(
        shop,
        "st",
        "WITH per AS (SELECT customer, sum(amount) AS total FROM orders GROUP BY customer)"
        " SELECT c.name, p.total FROM customers c JOIN per p ON p.customer = c.id"
        " WHERE p.total > 20",
    )
    script(
        shop,
        "UPDATE orders SET customer = 1 WHERE customer = 2",
        "UPDATE customers SET name = 'x' WHERE id = 1",
        "DELETE FROM customers WHERE id = 4",
    )
    refresh_exact(shop, "st")
    script(shop, "DELETE FROM orders WHERE customer = 1")
    refresh_exact(shop, "st")
    assert_exact(shop, "st")


@pytest.mark.usual_way
def test_only_the_touched_rows_are_read(ps: PgStream) -> None:
    script(
        ps,
        "CREATE TABLE a (id int PRIMARY KEY, k int)",
        "CREATE TABLE b (k int PRIMARY KEY, y int)",
        "INSERT INTO a SELECT i, i % 500 FROM generate_series(1, 5000) i",
        "INSERT INTO b SELECT i, i FROM generate_series(0, 499) i",
        "CREATE INDEX ON a (k)",
    )
    create_exact(ps, "st", "SELECT a.id, b.y FROM a JOIN b USING (k)")
    ps.execute("UPDATE a SET k = 3 WHERE id = 7")
    assert refresh_exact(ps, "st").rows_read <= 2
    ps.execute("UPDATE b SET y = -1 WHERE k = 9")
    assert refresh_exact(ps, "st").rows_read <= 10


def test_the_same_function_on_both_sides_of_a_self_join(shop: PgStream) -> None:
    """PostgreSQL computes it in each scan; the two must not be taken for one."""
    create_exact(
        shop,
        "st",
        "SELECT a.id, b.id AS other FROM customers a JOIN customers b"
        " ON upper(a.name) = upper(b.name) AND reverse(a.name) <> reverse(b.name)",
    )
    script(
        shop,
        "INSERT INTO customers VALUES (20, 'ANN', 1), (21, 'Bob', 1)",
        "UPDATE customers SET name = 'BOB' WHERE id = 4",
    )
    refresh_exact(shop, "st")
    assert len(rows(shop, "st")) > 0
