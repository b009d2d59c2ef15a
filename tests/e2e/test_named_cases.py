"""Cases in which a delta is easily wrong, each in several rounds of changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from helpers import create_exact, refresh_exact, rows, script
from pgstream.catalog.records import Action
from pgstream.client import PgStream


def create(ps: PgStream, tables: str, query: str) -> None:
    """Makes and fills the tables, and a stream table `st` over them."""
    ps.execute(tables)
    create_exact(ps, "st", query)


def after(ps: PgStream, *changes: str) -> Sequence[tuple[Any, ...]]:
    """The stream table's rows after the changes and a differential refresh, which is exact."""
    script(ps, *changes)
    result = refresh_exact(ps, "st")
    assert result.action in (Action.DIFFERENTIAL, Action.NO_DATA), result.reason
    return rows(ps, "st")


def test_three_left_joins_with_max_on_top(ps: PgStream) -> None:
    create(
        ps,
        """
        CREATE TABLE a (id int PRIMARY KEY, b_id int);
        CREATE TABLE b (id int PRIMARY KEY, c_id int);
        CREATE TABLE c (id int PRIMARY KEY, d_id int);
        CREATE TABLE d (id int, v int);
        INSERT INTO a VALUES (1, 1), (2, 1), (3, 2), (4, NULL), (5, 9);
        INSERT INTO b VALUES (1, 1), (2, 2), (3, NULL);
        INSERT INTO c VALUES (1, 1), (2, 2);
        INSERT INTO d VALUES (1, 10), (1, 20), (2, 5)""",
        "SELECT a.b_id, max(d.v) AS top, count(d.v) AS n FROM a LEFT JOIN b ON b.id = a.b_id"
        " LEFT JOIN c ON c.id = b.c_id LEFT JOIN d ON d.id = c.d_id GROUP BY a.b_id",
    )
    assert after(ps, "DELETE FROM d WHERE v = 20") == [
        (1, 10, 2),
        (2, 5, 1),
        (9, None, 0),
        (None, None, 0),
    ]
    assert after(ps, "UPDATE b SET c_id = 2 WHERE id = 1")[0] == (1, 5, 2)
    assert after(ps, "DELETE FROM c WHERE id = 2")[0] == (1, None, 0)
    assert after(ps, "INSERT INTO c VALUES (2, 1); INSERT INTO d VALUES (1, 7)")[0] == (1, 10, 4)
    assert after(ps, "INSERT INTO b VALUES (9, 2)", "DELETE FROM d WHERE v = 10")[2] == (9, 7, 1)
    assert after(ps, "UPDATE a SET b_id = 3; DELETE FROM d WHERE id = 2") == [(3, None, 0)]
    assert after(ps, "UPDATE b SET c_id = 1 WHERE id = 3") == [(3, 7, 5)]
    assert after(ps, "DELETE FROM a; DELETE FROM b") == []


def test_two_full_joins(ps: PgStream) -> None:
    create(
        ps,
        """
        CREATE TABLE a (k int, x text);
        CREATE TABLE b (k int, y text);
        CREATE TABLE c (k int, z text);
        INSERT INTO a VALUES (1, 'a1'), (2, 'a2'), (2, 'a2'), (NULL, 'a-');
        INSERT INTO b VALUES (1, 'b1'), (3, 'b3'), (NULL, 'b-');
        INSERT INTO c VALUES (2, 'c2'), (3, 'c3'), (4, 'c4')""",
        "SELECT coalesce(a.k, b.k, c.k) AS k, a.x, b.y, c.z FROM a FULL JOIN b ON a.k = b.k"
        " FULL JOIN c ON coalesce(a.k, b.k) = c.k",
    )
    after(ps, "INSERT INTO b VALUES (2, 'b2')")
    after(ps, "UPDATE a SET k = 4 WHERE k = 1", "DELETE FROM b WHERE k = 1")
    after(
        ps, "DELETE FROM a WHERE k = 2; DELETE FROM c WHERE k = 2; UPDATE b SET k = 5 WHERE k = 3"
    )
    assert after(ps, "DELETE FROM a; DELETE FROM b") == [
        (3, None, None, "c3"),
        (4, None, None, "c4"),
    ]
    assert after(ps, "INSERT INTO a VALUES (3, 'new'); DELETE FROM c") == [(3, "new", None, None)]
    after(
        ps,
        "INSERT INTO b VALUES (3, 'one'), (3, 'two'), (NULL, '-'); INSERT INTO c VALUES (3, 'c')",
    )
    after(ps, "UPDATE a SET k = NULL; UPDATE b SET y = 'one' WHERE y = 'two'")


def test_an_anti_join_whose_both_sides_change(ps: PgStream) -> None:
    create(
        ps,
        """
        CREATE TABLE customers (id int PRIMARY KEY, region int, name text);
        CREATE TABLE orders (id int PRIMARY KEY, customer_id int);
        INSERT INTO customers VALUES (1, 1, 'ann'), (2, 1, 'bob'), (3, 2, 'cy'), (4, NULL, 'dee');
        INSERT INTO orders VALUES (1, 1), (2, 1), (3, NULL)""",
        "SELECT c.id, c.name FROM customers c"
        " WHERE NOT EXISTS (SELECT FROM orders o WHERE o.customer_id = c.id)",
    )
    assert after(
        ps, "UPDATE customers SET name = 'Bob' WHERE id = 2; INSERT INTO orders VALUES (4, 2)"
    ) == [(3, "cy"), (4, "dee")]
    assert after(ps, "DELETE FROM orders WHERE id = 1") == [(3, "cy"), (4, "dee")]
    assert after(
        ps,
        "UPDATE orders SET customer_id = 3 WHERE id = 2; UPDATE customers SET name = 'CY'"
        " WHERE id = 3",
    ) == [(1, "ann"), (4, "dee")]
    assert after(
        ps, "UPDATE customers SET id = 5 WHERE id = 2; DELETE FROM orders WHERE id = 2"
    ) == [(1, "ann"), (3, "CY"), (4, "dee"), (5, "Bob")]
    assert after(
        ps,
        "DELETE FROM customers WHERE id IN (1, 3); INSERT INTO orders VALUES (5, 1);"
        " INSERT INTO customers VALUES (2, 2, 'new')",
    ) == [(4, "dee"), (5, "Bob")]
    assert after(ps, "DELETE FROM orders; DELETE FROM customers WHERE id = 4") == [
        (2, "new"),
        (5, "Bob"),
    ]


def test_not_in_with_a_null_that_appears_and_vanishes(ps: PgStream) -> None:
    create(
        ps,
        """
        CREATE TABLE products (id int, name text);
        CREATE TABLE items (product_id int, n int);
        INSERT INTO products VALUES (1, 'pen'), (2, 'ink'), (2, 'ink'), (NULL, 'none');
        INSERT INTO items VALUES (1, 1), (7, 1)""",
        "SELECT id, name FROM products WHERE id NOT IN (SELECT product_id FROM items)",
    )
    assert after(ps, "INSERT INTO items VALUES (NULL, 1)") == []
    assert (
        after(ps, "INSERT INTO products VALUES (3, 'pad'); INSERT INTO items VALUES (NULL, 2)")
        == []
    )
    assert after(ps, "DELETE FROM items WHERE n = 2") == []
    assert after(ps, "DELETE FROM items WHERE product_id IS NULL") == [
        (2, "ink"),
        (2, "ink"),
        (3, "pad"),
    ]
    assert after(ps, "UPDATE items SET product_id = 2 WHERE product_id = 1") == [
        (1, "pen"),
        (3, "pad"),
    ]
    assert after(ps, "UPDATE items SET product_id = NULL WHERE product_id = 7") == []
    assert len(after(ps, "DELETE FROM items")) == 5
    assert after(
        ps,
        "INSERT INTO items VALUES (NULL, 1), (3, 1)",
        "DELETE FROM items WHERE n = 1",
        "INSERT INTO items VALUES (1, 1)",
    ) == [(2, "ink"), (2, "ink"), (3, "pad")]


def test_intersect_all_with_counts_that_cross(ps: PgStream) -> None:
    create(
        ps,
        """
        CREATE TABLE a (item text, n int);
        CREATE TABLE b (item text, n int);
        INSERT INTO a VALUES ('x', 1), ('x', 2), ('x', 3), ('y', 1), (NULL, 1);
        INSERT INTO b VALUES ('x', 1), ('y', 1), ('y', 2), (NULL, 1), (NULL, 2)""",
        "SELECT item FROM a INTERSECT ALL SELECT item FROM b",
    )
    x, y, none = ("x",), ("y",), (None,)
    assert after(ps, "INSERT INTO b SELECT 'x', i FROM generate_series(2, 6) i") == [
        x,
        x,
        x,
        y,
        none,
    ]
    assert after(ps, "DELETE FROM a WHERE item = 'x' AND n > 1") == [x, y, none]
    assert after(
        ps, "INSERT INTO a VALUES ('y', 2), ('y', 3), (NULL, 2); DELETE FROM b WHERE n = 1"
    ) == [x, y, none]
    assert after(ps, "UPDATE a SET item = 'x' WHERE item = 'y'; DELETE FROM b WHERE n > 4") == [
        x,
        x,
        x,
        none,
    ]
    assert after(ps, "UPDATE b SET item = NULL WHERE item = 'x' AND n = 2") == [x, x, none, none]
    assert after(ps, "DELETE FROM b WHERE item = 'x'") == [none, none]
    assert after(
        ps, "INSERT INTO b VALUES ('x', 1); UPDATE a SET item = 'z' WHERE item IS NULL"
    ) == [x]


def test_distinct_on_with_ties(ps: PgStream) -> None:
    """The tie-breaker is unique, so that rows with the same salary have one answer."""
    create(
        ps,
        """
        CREATE TABLE staff (id int PRIMARY KEY, dept text, salary int);
        INSERT INTO staff VALUES (1, 'eng', 10), (2, 'eng', 20), (3, 'eng', 20), (4, 'ops', NULL),
                                 (5, 'ops', 5), (6, NULL, 1), (7, NULL, 1)""",
        "SELECT DISTINCT ON (dept) dept, id, salary FROM staff"
        " ORDER BY dept, salary DESC NULLS LAST, id",
    )
    eng, ops, none = ("eng", 2, 20), ("ops", 5, 5), (None, 6, 1)
    assert rows(ps, "st") == [eng, ops, none]
    assert after(ps, "DELETE FROM staff WHERE id = 2") == [("eng", 3, 20), ops, none]
    assert after(ps, "INSERT INTO staff VALUES (2, 'eng', 20), (0, NULL, 1)") == [
        eng,
        ops,
        (None, 0, 1),
    ]
    assert after(ps, "UPDATE staff SET salary = 20 WHERE id IN (1, 4)") == [
        ("eng", 1, 20),
        ("ops", 4, 20),
        (None, 0, 1),
    ]
    assert after(
        ps, "UPDATE staff SET dept = 'ops' WHERE id = 1; DELETE FROM staff WHERE dept IS NULL"
    ) == [eng, ("ops", 1, 20)]
    assert after(ps, "UPDATE staff SET id = 9 WHERE id = 2") == [("eng", 3, 20), ("ops", 1, 20)]
    assert after(ps, "DELETE FROM staff WHERE dept = 'eng'; UPDATE staff SET salary = NULL") == [
        ("ops", 1, None)
    ]


def test_a_window_whose_partition_key_is_updated(ps: PgStream) -> None:
    create(
        ps,
        """
        CREATE TABLE sales (id int PRIMARY KEY, region text, day int, amount int);
        INSERT INTO sales VALUES (1, 'n', 1, 10), (2, 'n', 2, 20), (3, 'n', 3, 30), (4, 's', 1, 1),
                                 (5, NULL, 1, 5)""",
        "SELECT id, region, row_number() OVER w AS nr, sum(amount) OVER w AS running,"
        " lag(amount) OVER w AS before FROM sales"
        " WINDOW w AS (PARTITION BY region ORDER BY day, id)",
    )
    assert after(ps, "UPDATE sales SET region = 's' WHERE id = 1") == [
        (1, "s", 1, 10, None),
        (2, "n", 1, 20, None),
        (3, "n", 2, 50, 20),
        (4, "s", 2, 11, 10),
        (5, None, 1, 5, None),
    ]
    after(
        ps,
        "UPDATE sales SET region = NULL, amount = 7 WHERE id = 4; DELETE FROM sales WHERE id = 5",
    )
    after(ps, "UPDATE sales SET region = 'n', day = 0 WHERE region IS NULL")
    after(ps, "UPDATE sales SET region = CASE region WHEN 'n' THEN 's' ELSE 'n' END")
    assert after(
        ps,
        "UPDATE sales SET region = 'x'; DELETE FROM sales WHERE id > 2",
        "INSERT INTO sales VALUES (9, 'x', 0, 1)",
    ) == [(1, "x", 2, 11, 1), (2, "x", 3, 31, 10), (9, "x", 1, 1, None)]


def test_a_recursive_tree_whose_root_moves(ps: PgStream) -> None:
    create(
        ps,
        """
        CREATE TABLE nodes (id int PRIMARY KEY, name text, parent_id int);
        INSERT INTO nodes VALUES (1, 'root', NULL), (2, 'a', 1), (3, 'b', 1), (4, 'a1', 2),
                                 (5, 'a2', 2), (6, 'a11', 4), (7, 'other', NULL)""",
        "WITH RECURSIVE tree AS ("
        " SELECT id, name AS path, 0 AS depth FROM nodes WHERE parent_id IS NULL"
        " UNION ALL SELECT n.id, t.path || '/' || n.name, t.depth + 1"
        " FROM nodes n JOIN tree t ON n.parent_id = t.id)"
        " SELECT id, path, depth FROM tree",
    )
    assert after(ps, "UPDATE nodes SET parent_id = 7 WHERE id = 1")[5] == (
        6,
        "other/root/a/a1/a11",
        4,
    )
    assert after(ps, "UPDATE nodes SET name = 'ROOT', parent_id = NULL WHERE id = 1")[3] == (
        4,
        "ROOT/a/a1",
        2,
    )
    after(ps, "UPDATE nodes SET parent_id = 6 WHERE id = 7")
    assert after(
        ps, "UPDATE nodes SET parent_id = 3 WHERE id = 4; DELETE FROM nodes WHERE id = 2"
    ) == [
        (1, "ROOT", 0),
        (3, "ROOT/b", 1),
        (4, "ROOT/b/a1", 2),
        (6, "ROOT/b/a1/a11", 3),
        (7, "ROOT/b/a1/a11/other", 4),
    ]
    assert after(ps, "DELETE FROM nodes WHERE id = 1") == []
    assert after(
        ps,
        "UPDATE nodes SET parent_id = NULL WHERE id = 4; INSERT INTO nodes VALUES (2, 'back', 6)",
    ) == [
        (2, "a1/a11/back", 2),
        (4, "a1", 0),
        (5, "a1/a11/back/a2", 3),
        (6, "a1/a11", 1),
        (7, "a1/a11/other", 2),
    ]


def test_a_graph_with_two_paths_of_which_one_is_cut(ps: PgStream) -> None:
    create(
        ps,
        """
        CREATE TABLE edges (src int, dst int);
        INSERT INTO edges VALUES (1, 2), (2, 4), (1, 3), (3, 4), (4, 5), (5, 4), (8, 9), (8, 9)""",
        "WITH RECURSIVE reached AS (SELECT src, dst FROM edges"
        " UNION SELECT r.src, e.dst FROM reached r JOIN edges e ON e.src = r.dst)"
        " SELECT src, dst FROM reached",
    )
    assert (1, 5) in after(ps, "DELETE FROM edges WHERE src = 2")
    assert (1, 5) not in after(ps, "DELETE FROM edges WHERE src = 3")
    assert (8, 9) in after(
        ps,
        "DELETE FROM edges WHERE ctid IN"
        " (SELECT ctid FROM edges WHERE src = 8 LIMIT 1); INSERT INTO edges VALUES (3, 5)",
    )
    assert after(ps, "UPDATE edges SET dst = 1 WHERE src = 5; DELETE FROM edges WHERE src = 8")[
        0
    ] == (1, 1)
    assert after(ps, "DELETE FROM edges WHERE src = 4; INSERT INTO edges VALUES (2, 2)")
    assert after(ps, "DELETE FROM edges") == []
    assert after(ps, "INSERT INTO edges VALUES (1, 2), (2, 1)") == [(1, 1), (1, 2), (2, 1), (2, 2)]
