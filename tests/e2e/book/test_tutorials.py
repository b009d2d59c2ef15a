"""The tutorials as they are written: the statements, and what the tables then show."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from e2e.book.queries_more import TUTORIALS
from e2e.book.schema_people import ORG_CHART
from helpers import create_exact, refresh_exact, script
from pgstream.catalog.records import Action
from pgstream.client import PgStream

QUERIES = {(query.name, query.lines[0]): query.sql for query in TUTORIALS}
ORDERS = """
CREATE TABLE orders (
    id SERIAL PRIMARY KEY,
    customer TEXT NOT NULL,
    amount NUMERIC(10,2) NOT NULL
)"""
CUSTOMERS_AND_ORDERS = """
CREATE TABLE customers (
    id SERIAL PRIMARY KEY,
    name TEXT NOT NULL,
    tier TEXT NOT NULL DEFAULT 'standard'
);
CREATE TABLE orders (
    id SERIAL PRIMARY KEY,
    customer_id INT REFERENCES customers(id),
    amount NUMERIC(10,2)
);
INSERT INTO customers VALUES (1, 'alice', 'premium'), (2, 'bob', 'standard');
INSERT INTO orders VALUES (1, 1, 50.00), (2, 1, 30.00), (3, 2, 75.00)"""


def totals(ps: PgStream, *changes: str, action: Action = Action.DIFFERENTIAL) -> dict[str, Any]:
    """What customer_totals shows after the changes and one refresh."""
    script(ps, *changes)
    assert refresh_exact(ps, "customer_totals").action is action
    found = ps.execute("SELECT customer, total::text, order_count FROM customer_totals")
    return {customer: (total, count) for customer, total, count in found}


def with_orders(ps: PgStream, rows: str = "") -> None:
    ps.execute(ORDERS)
    if rows:
        ps.execute(f"INSERT INTO orders (customer, amount) VALUES {rows}")
    create_exact(ps, "customer_totals", QUERIES["customer_totals", 3355])


def test_getting_started(ps: PgStream) -> None:
    script(ps, ORG_CHART.create, ORG_CHART.rows)
    for name, line in (
        ("department_tree", 152),
        ("department_stats", 199),
        ("department_report", 243),
    ):
        create_exact(ps, name, QUERIES[name, line])
    assert report(ps) == {
        "Engineering": (4, 475000),
        "Operations": (1, 100000),
        "Sales": (2, 185000),
    }
    paths = ps.execute("SELECT path, depth FROM department_tree WHERE id IN (1, 5) ORDER BY id")
    assert paths == [("Company", 0), ("Company > Engineering > Backend", 2)]

    ps.execute("INSERT INTO employees VALUES (8, 'Heidi', 6, 105000)")
    assert report(ps)["Engineering"] == (5, 580000)
    stats = "SELECT headcount, total_salary, avg_salary FROM department_stats WHERE department_name"
    assert ps.execute(f"{stats} = 'Frontend'") == [(2, 215000, Decimal("107500"))]

    ps.execute("INSERT INTO departments (id, name, parent_id) VALUES (8, 'DevOps', 2)")
    assert report(ps)["Engineering"] == (5, 580000)
    devops = ps.execute("SELECT path, depth FROM department_tree WHERE name = 'DevOps'")
    assert devops == [("Company > Engineering > DevOps", 2)]

    ps.execute("UPDATE departments SET name = 'R&D' WHERE id = 2")
    assert report(ps) == {"R&D": (5, 580000), "Operations": (1, 100000), "Sales": (2, 185000)}
    renamed = "SELECT name FROM department_tree WHERE path LIKE '%R&D%' ORDER BY depth, name"
    assert [name for (name,) in ps.execute(renamed)] == [
        *("R&D", "Backend", "DevOps", "Frontend", "Platform")
    ]

    ps.execute("DELETE FROM employees WHERE name = 'Bob'")
    assert report(ps)["R&D"] == (4, 465000)
    assert ps.execute(f"{stats} = 'Backend'") == [(1, 120000, 120000)]


def report(ps: PgStream) -> dict[str, tuple[int, Decimal]]:
    """What department_report shows after a refresh of all three layers."""
    refresh_exact(ps, "department_report", "department_tree", "department_stats")
    return {
        division: (heads, pay)
        for division, heads, pay in ps.execute(
            "SELECT division, total_headcount, total_payroll FROM department_report"
        )
    }


def test_what_happens_when_you_insert_a_row(ps: PgStream) -> None:
    with_orders(ps)
    assert ps.execute("SELECT * FROM customer_totals") == []
    inserted = "INSERT INTO orders (customer, amount) VALUES ('alice', 49.99)"
    assert totals(ps, inserted) == {"alice": ("49.99", 1)}
    assert totals(ps, action=Action.NO_DATA) == {"alice": ("49.99", 1)}
    assert totals(ps, "UPDATE orders SET amount = 59.99 WHERE id = 1") == {"alice": ("59.99", 1)}
    assert totals(ps, "DELETE FROM orders WHERE id = 1") == {}


def test_what_happens_when_you_update_a_row(ps: PgStream) -> None:
    with_orders(ps, "('alice', 49.99), ('alice', 30.00), ('bob', 75.00)")
    bob = ("75.00", 1)
    assert totals(ps, "UPDATE orders SET amount = 59.99 WHERE id = 1") == {
        "alice": ("89.99", 2),
        "bob": bob,
    }
    assert totals(ps, "UPDATE orders SET customer = 'bob' WHERE id = 2") == {
        "alice": ("59.99", 1),
        "bob": ("105.00", 2),
    }
    assert totals(ps, "UPDATE orders SET customer = 'bob' WHERE id = 1") == {"bob": ("164.99", 3)}
    assert totals(
        ps, *(f"UPDATE orders SET amount = {amount} WHERE id = 3" for amount in (10, 20, 30))
    ) == {"bob": ("119.99", 3)}
    assert totals(
        ps,
        "INSERT INTO orders (customer, amount) VALUES ('charlie', 100.00)",
        "UPDATE orders SET amount = 200.00 WHERE customer = 'charlie'",
    ) == {"bob": ("119.99", 3), "charlie": ("200.00", 1)}
    assert totals(
        ps,
        "UPDATE orders SET amount = 999.99 WHERE id = 3",
        "DELETE FROM orders WHERE id = 3",
    ) == {"bob": ("89.99", 2), "charlie": ("200.00", 1)}


def test_what_happens_when_you_delete_a_row(ps: PgStream) -> None:
    with_orders(ps, "('alice', 50.00), ('alice', 30.00), ('bob', 75.00), ('bob', 25.00)")
    assert totals(ps, "DELETE FROM orders WHERE id = 2") == {
        "alice": ("50.00", 1),
        "bob": ("100.00", 2),
    }
    assert totals(ps, "DELETE FROM orders WHERE id = 1") == {"bob": ("100.00", 2)}
    assert totals(ps, *(f"DELETE FROM orders WHERE id = {key}" for key in (3, 4))) == {}
    inserted = "INSERT INTO orders (customer, amount) VALUES ('charlie', 200.00)"
    assert totals(ps, inserted, "DELETE FROM orders", action=Action.NO_DATA) == {}
    script(
        ps,
        "INSERT INTO orders VALUES (11, 'alice', 50), (12, 'alice', 30), (13, 'bob', 75),"
        " (14, 'bob', 25)",
    )
    assert totals(ps) == {"alice": ("80.00", 2), "bob": ("100.00", 2)}
    assert totals(ps, "DELETE FROM orders WHERE amount < 50.00") == {
        "alice": ("50.00", 1),
        "bob": ("75.00", 1),
    }


def test_what_happens_to_a_join(ps: PgStream) -> None:
    ps.execute(CUSTOMERS_AND_ORDERS)
    create_exact(ps, "order_details", QUERIES["order_details", 3707])

    def details(change: str) -> list[tuple[Any, ...]]:
        ps.execute(change)
        assert refresh_exact(ps, "order_details").action is Action.DIFFERENTIAL
        return ps.execute("SELECT name, tier, amount FROM order_details ORDER BY 1, 3")

    alice, bob = ("alice", "premium", 50), ("bob", "standard", 75)
    assert details("DELETE FROM orders WHERE id = 2") == [alice, bob]
    assert details("UPDATE customers SET tier = 'premium' WHERE name = 'bob'") == [
        alice,
        ("bob", "premium", 75),
    ]
    ps.execute("ALTER TABLE orders DROP CONSTRAINT orders_customer_id_fkey")
    assert details("DELETE FROM customers WHERE id = 2") == [alice]


def test_what_happens_when_you_truncate_a_table(ps: PgStream) -> None:
    """Not what the book says: TRUNCATE is captured, and the next refresh is full."""
    with_orders(ps, "('alice', 50.00), ('alice', 30.00), ('bob', 75.00), ('bob', 25.00)")
    assert totals(ps, "TRUNCATE orders", action=Action.FULL) == {}
    script(ps, "INSERT INTO orders (customer, amount) VALUES ('alice', 1)")
    assert totals(ps) == {"alice": ("1.00", 1)}
    assert totals(
        ps,
        "TRUNCATE orders; INSERT INTO orders (customer, amount)"
        " VALUES ('charlie', 100.00), ('charlie', 200.00), ('dave', 150.00)",
        action=Action.FULL,
    ) == {"charlie": ("300.00", 2), "dave": ("150.00", 1)}


def test_what_happens_when_a_dimension_is_truncated(ps: PgStream) -> None:
    ps.execute(CUSTOMERS_AND_ORDERS)
    create_exact(ps, "order_details", QUERIES["order_details", 3707])
    ps.execute("TRUNCATE customers CASCADE")
    assert refresh_exact(ps, "order_details").action is Action.FULL
    assert ps.execute("SELECT * FROM order_details") == []
