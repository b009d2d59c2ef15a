"""Stream tables over views: changes of the tables below arrive, in every kind of view."""

from __future__ import annotations

from typing import Any

import pytest

from helpers import create_exact, refresh_exact, rows, script
from pgstream.catalog.records import Action
from pgstream.client import PgStream

TABLES = (
    "CREATE TABLE customers (id int PRIMARY KEY, name text, region text)",
    "CREATE TABLE orders (id int PRIMARY KEY, customer int, amount numeric(10,2), status text)",
    "INSERT INTO customers SELECT i, 'c' || i, (ARRAY['n', 's', NULL])[1 + i % 3]"
    " FROM generate_series(1, 9) i",
    "INSERT INTO orders SELECT i, i % 10, i * 1.25, (ARRAY['open', 'done'])[1 + i % 2]"
    " FROM generate_series(1, 40) i",
)
VIEWS = (
    "CREATE VIEW open_orders AS SELECT id, customer, amount FROM orders WHERE status = 'open'",
    "CREATE VIEW sales(region, name, amount) AS SELECT c.region, c.name, o.amount"
    " FROM open_orders o JOIN customers c ON c.id = o.customer",
    "CREATE VIEW regions AS SELECT region, count(*) AS n, sum(amount) AS total"
    " FROM sales GROUP BY region",
    "CREATE VIEW named AS WITH sales AS (SELECT customer, max(amount) AS top FROM open_orders"
    " GROUP BY customer) SELECT c.name, s.top FROM customers c JOIN sales s ON s.customer = c.id",
)
CHANGES = (
    "INSERT INTO orders VALUES (100, 1, 7.5, 'open'), (101, 2, NULL, 'done')",
    "UPDATE orders SET amount = amount + 1 WHERE id % 4 = 0",
    "UPDATE orders SET status = 'done' WHERE id % 6 = 0",
    "UPDATE orders SET customer = customer + 1 WHERE id < 10",
    "UPDATE customers SET region = 'w' WHERE id IN (2, 4)",
    "DELETE FROM orders WHERE id > 30; DELETE FROM customers WHERE id = 3",
    "DELETE FROM orders",
    "INSERT INTO orders SELECT i, i % 9, i, 'open' FROM generate_series(1, 12) i",
)


@pytest.fixture
def base(ps: PgStream) -> PgStream:
    script(ps, *TABLES, *VIEWS)
    return ps


def change_and_compare(ps: PgStream, *names: str) -> None:
    """Each change alone, and the oracle after each; all that matters is differential."""
    for change in CHANGES:
        ps.execute(change)
        for name in names:
            assert refresh_exact(ps, name).action in (Action.DIFFERENTIAL, Action.NO_DATA)


QUERIES = {
    "a view": "SELECT id, amount FROM open_orders",
    "view of a view, with a join and an aggregate": "SELECT region, sum(amount) AS total,"
    " count(*) AS n FROM sales GROUP BY region",
    "the aggregate is in the view": "SELECT region, n, total FROM regions",
    "an aggregate over an aggregate": "SELECT max(n) AS most, sum(total) AS total FROM regions",
    "the same view twice": "SELECT a.id, b.id AS other FROM open_orders a"
    " JOIN open_orders b ON b.customer = a.customer AND b.id <> a.id",
    "a view and its table": "SELECT orders.id, open_orders.amount FROM orders"
    " LEFT JOIN open_orders ON open_orders.id = orders.id",
    "exists": "SELECT orders.id FROM orders WHERE EXISTS (SELECT 1 FROM open_orders o"
    " WHERE o.customer = orders.customer) AND orders.customer IN (SELECT id FROM customers)",
    "lateral": "SELECT c.name, l.id FROM customers c, LATERAL (SELECT o.id FROM open_orders o"
    " WHERE o.customer = c.id) l",
    "a CTE in the view and one of its name": "WITH sales AS (SELECT name FROM public.sales)"
    " SELECT sales.name, named.top FROM sales JOIN named ON named.name = sales.name",
    "set operation": "SELECT customer FROM open_orders EXCEPT SELECT id FROM customers",
}


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_changes_below_arrive(base: PgStream, query: str) -> None:
    create_exact(base, "s", query)
    change_and_compare(base, "s")


def test_a_view_over_a_stream_table(base: PgStream) -> None:
    create_exact(base, "totals", "SELECT customer, sum(amount) AS t FROM open_orders GROUP BY 1")
    base.execute("CREATE VIEW big AS SELECT * FROM totals WHERE t > 5")
    base.create_stream_table(
        "buyers", "SELECT c.name, big.t FROM big JOIN customers c ON c.id = big.customer"
    )
    base.create_stream_table("stars", "SELECT * FROM big")
    change_and_compare(base, "buyers")
    assert rows(base, "buyers")
    refreshed = base.refresh_stream_table("stars")
    assert [each.name for each in refreshed.upstream] == ["public.totals"]
    assert rows(base, "stars") == sorted(
        base.execute("SELECT customer, t FROM totals WHERE t > 5"), key=repr
    )


def test_a_view_over_a_partitioned_table(ps: PgStream) -> None:
    script(
        ps,
        "CREATE TABLE p (id int, k int) PARTITION BY LIST (k)",
        "CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1)",
        "CREATE TABLE p2 PARTITION OF p FOR VALUES IN (2)",
        "INSERT INTO p SELECT i, 1 + i % 2 FROM generate_series(1, 10) i",
        "CREATE VIEW v AS SELECT k, count(*) AS n FROM p GROUP BY k",
    )
    create_exact(ps, "s", "SELECT k, n FROM v WHERE n > 4")
    script(ps, "UPDATE p SET k = 1 WHERE id = 3", "INSERT INTO p2 VALUES (11, 2), (12, 2)")
    assert refresh_exact(ps, "s").action is Action.DIFFERENTIAL


@pytest.mark.smoke("catalog", "client", "monitor")
def test_created_in_sql_and_expanded_by_the_first_refresh(base: PgStream) -> None:
    base.execute(
        "SELECT pgstream.create_stream_table('s', 'SELECT region, total FROM regions', '1m')"
    )
    assert "public.regions" in base.table("s").defining_query
    assert refresh_exact(base, "s").action is Action.FULL
    table = base.table("s")
    assert table.original_query == "SELECT region, total FROM regions"
    assert "public.orders" in table.defining_query
    assert "public.regions" not in table.defining_query
    assert base.verify("s").exact
    change_and_compare(base, "s")


def test_truncate_below_a_view(base: PgStream) -> None:
    create_exact(base, "s", "SELECT region, total FROM regions")
    base.execute("TRUNCATE orders")
    result = refresh_exact(base, "s")
    assert (result.action, result.reason) == (Action.FULL, "TRUNCATE on public.orders")
    assert rows(base, "s") == []


def test_full_mode_over_views(base: PgStream) -> None:
    create_exact(base, "s", "SELECT region, total FROM regions", refresh_mode="FULL")
    for change in CHANGES:
        base.execute(change)
        assert refresh_exact(base, "s").action is Action.FULL


def test_full_mode_over_a_materialized_view(base: PgStream) -> None:
    base.execute("CREATE MATERIALIZED VIEW m AS SELECT region, total FROM regions")
    base.execute("CREATE VIEW over_m AS SELECT region FROM m WHERE total > 0")
    create_exact(base, "s", "SELECT region, total FROM m", refresh_mode="FULL")
    create_exact(base, "below", "SELECT region FROM over_m", refresh_mode="FULL")
    stale = rows(base, "s")
    base.execute("UPDATE orders SET amount = amount * 2; DELETE FROM customers WHERE region = 'n'")
    refresh_exact(base, "s")
    assert rows(base, "s") == stale
    base.execute("REFRESH MATERIALIZED VIEW m")
    assert refresh_exact(base, "s").action is Action.FULL
    assert rows(base, "s") != stale
    refresh_exact(base, "below")


@pytest.fixture
def foreign_orders(base: PgStream) -> PgStream:
    """The table of orders once more, through the server's own address."""
    available = base.execute("SELECT name FROM pg_available_extensions WHERE name = 'postgres_fdw'")
    if not available:
        pytest.skip("the embedded server has no foreign-data wrapper")
    connection: Any = base.connection
    info = connection.info
    script(
        base,
        "CREATE EXTENSION postgres_fdw",
        f"CREATE SERVER here FOREIGN DATA WRAPPER postgres_fdw OPTIONS"
        f" (host '{info.host}', port '{info.port}', dbname '{info.dbname}')",
        f"CREATE USER MAPPING FOR CURRENT_USER SERVER here OPTIONS (user '{info.user}')",
        "CREATE FOREIGN TABLE far (id int, amount numeric(10,2)) SERVER here"
        " OPTIONS (table_name 'orders')",
    )
    return base


def test_full_mode_over_a_foreign_table(foreign_orders: PgStream) -> None:
    create_exact(
        foreign_orders, "s", "SELECT id, amount FROM far WHERE id > 3", refresh_mode="FULL"
    )
    for change in CHANGES:
        foreign_orders.execute(change)
        assert refresh_exact(foreign_orders, "s").action is Action.FULL
