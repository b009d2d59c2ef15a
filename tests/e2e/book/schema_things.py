"""Source tables of the other examples: sets, arrays, documents, events, measurements."""

from __future__ import annotations

from e2e.book.cases import TableSet

STOCK = TableSet(
    tables=(
        *("orders_east", "orders_west", "warehouse_a", "warehouse_b"),
        *("orders", "shipments", "stock_received", "stock_shipped"),
    ),
    create="""
        CREATE TABLE orders_east (id int PRIMARY KEY, customer_id int, amount int);
        CREATE TABLE orders_west (id int PRIMARY KEY, customer_id int, amount int);
        CREATE TABLE warehouse_a (item_name text, shelf int);
        CREATE TABLE warehouse_b (item_name text, shelf int);
        CREATE TABLE orders (order_id int PRIMARY KEY, note text);
        CREATE TABLE shipments (id int PRIMARY KEY, order_id int);
        CREATE TABLE stock_received (sku varchar(8), batch int);
        CREATE TABLE stock_shipped (sku varchar(8), batch int)""",
    rows="""
        INSERT INTO orders_east VALUES (1, 1, 5), (2, 1, 5), (3, 2, 7), (4, NULL, 1), (5, 4, 4);
        INSERT INTO orders_west VALUES (1, 1, 9), (2, 3, 9), (3, NULL, 2), (4, NULL, 2);
        INSERT INTO warehouse_a VALUES ('cup', 1), ('cup', 2), ('cup', 2), ('pan', 1), (NULL, 1);
        INSERT INTO warehouse_b VALUES ('cup', 1), ('cup', 1), ('pot', 1), (NULL, 1), (NULL, 2);
        INSERT INTO orders VALUES (1, 'a'), (2, 'b'), (3, NULL), (4, 'd');
        INSERT INTO shipments VALUES (1, 1), (2, 1), (3, 9), (4, NULL);
        INSERT INTO stock_received VALUES ('a1', 1), ('a1', 2), ('a1', 2), ('b2', 1), (NULL, 1);
        INSERT INTO stock_shipped VALUES ('a1', 1), ('c3', 1), ('c3', 1)""",
    insert="""
        INSERT INTO orders_east VALUES (6, 3, 1); INSERT INTO orders_west VALUES (5, 2, 1);
        INSERT INTO warehouse_a VALUES ('pot', 9), (NULL, 9);
        INSERT INTO warehouse_b VALUES ('cup', 9), ('pan', 9), ('pan', 9);
        INSERT INTO orders VALUES (9, 'nine'); INSERT INTO shipments VALUES (5, 2);
        INSERT INTO stock_received VALUES ('c3', 2); INSERT INTO stock_shipped VALUES ('a1', 3)""",
    update="""
        UPDATE orders_east SET amount = 0; UPDATE orders_west SET amount = 0 WHERE id = 1;
        UPDATE warehouse_a SET shelf = 5; UPDATE warehouse_b SET shelf = 5;
        UPDATE orders SET note = 'noted'; UPDATE shipments SET id = id + 10;
        UPDATE stock_received SET batch = 0; UPDATE stock_shipped SET batch = 0""",
    move="""
        UPDATE orders_east SET customer_id = 3 WHERE customer_id = 1;
        UPDATE orders_west SET customer_id = 4 WHERE id IN (1, 3);
        UPDATE warehouse_a SET item_name = 'pan' WHERE item_name IS NULL;
        UPDATE warehouse_b SET item_name = NULL WHERE item_name = 'pot';
        UPDATE orders SET order_id = 5 WHERE order_id = 1;
        UPDATE shipments SET order_id = 4 WHERE order_id = 1;
        UPDATE stock_received SET sku = 'c3' WHERE sku = 'a1';
        UPDATE stock_shipped SET sku = NULL WHERE sku = 'a1'""",
    delete="""
        DELETE FROM orders_east WHERE id = 4; DELETE FROM orders_west WHERE id IN (2, 4);
        DELETE FROM warehouse_a WHERE item_name = 'cup';
        DELETE FROM warehouse_b WHERE item_name IS NULL;
        DELETE FROM orders WHERE order_id = 3; DELETE FROM shipments WHERE order_id IN (4, 9);
        DELETE FROM stock_received WHERE sku = 'b2'; DELETE FROM stock_shipped WHERE sku IS NULL""",
    together="""
        INSERT INTO orders_east VALUES (7, 8, 8); INSERT INTO orders_west VALUES (7, 8, 8);
        UPDATE orders_east SET customer_id = NULL WHERE id IN (1, 2);
        DELETE FROM orders_west WHERE id = 5;
        INSERT INTO warehouse_a VALUES ('jar', 1), ('jar', 1), ('jar', 1);
        INSERT INTO warehouse_b VALUES ('jar', 1), ('jar', 2);
        UPDATE warehouse_a SET item_name = 'cup' WHERE item_name = 'pan';
        DELETE FROM warehouse_b WHERE item_name = 'pan';
        INSERT INTO orders VALUES (6, 'six'), (7, 'seven'); INSERT INTO shipments VALUES (6, 6);
        UPDATE orders SET order_id = 8 WHERE order_id = 2; DELETE FROM shipments WHERE id = 14;
        INSERT INTO stock_received VALUES ('d4', 1), ('d4', 2);
        INSERT INTO stock_shipped VALUES ('d4', 1), ('e5', 1);
        UPDATE stock_received SET sku = 'e5' WHERE sku IS NULL;
        DELETE FROM stock_shipped WHERE sku = 'c3'""",
)

DOCUMENTS = TableSet(
    tables=("parent_data", "documents", "tagged_items", "products", "arrays"),
    create="""
        CREATE TABLE parent_data (id int PRIMARY KEY, data jsonb);
        CREATE TABLE documents (id int PRIMARY KEY, metadata jsonb);
        CREATE TABLE tagged_items (id int, tags text[]);
        CREATE TABLE products (id int PRIMARY KEY, prices jsonb);
        CREATE TABLE arrays (id int PRIMARY KEY, data jsonb)""",
    rows="""
        INSERT INTO parent_data VALUES (1, '{"children": [1, 1, "two", null, {"a": [3]}]}'),
            (2, '{"children": []}'), (3, '{}'), (4, NULL), (5, '{"children": [1.50]}');
        INSERT INTO documents VALUES (1, '{"a": 1, "b": {"c": null}}'), (2, '{}'), (3, NULL);
        INSERT INTO tagged_items VALUES (1, '{red,red,NULL}'), (1, '{red}'), (2, '{}'), (3, NULL);
        INSERT INTO products VALUES (1, '[50, 101, 500, 500]'), (2, '[]'), (3, '[100]'), (4, NULL);
        INSERT INTO arrays VALUES (1, '[1, 2, 2]'), (2, '[]'), (3, '[[]]'), (4, NULL)""",
    insert="""
        INSERT INTO parent_data VALUES (6, '{"children": ["x", "y"]}');
        INSERT INTO documents VALUES (4, '{"k": "v", "a": [true]}');
        INSERT INTO tagged_items VALUES (4, '{blue,"with space"}'), (1, '{red}');
        INSERT INTO products VALUES (5, '[999, 1]');
        INSERT INTO arrays VALUES (5, '[null, null]')""",
    update="""
        UPDATE parent_data SET data = '{"children": [1]}' WHERE id IN (1, 3);
        UPDATE documents SET metadata = metadata || '{"z": 9}' WHERE id IN (1, 2);
        UPDATE tagged_items SET tags = tags || '{new}' WHERE id = 2;
        UPDATE products SET prices = '[500, 600]' WHERE id IN (1, 3);
        UPDATE arrays SET data = '[1]' WHERE id IN (1, 2, 4)""",
    move="""
        UPDATE parent_data SET id = 60 WHERE id = 6;
        UPDATE documents SET id = 40 WHERE id = 4;
        UPDATE tagged_items SET id = 9 WHERE id = 1;
        UPDATE products SET id = 50 WHERE id = 5;
        UPDATE arrays SET id = 50 WHERE id = 5""",
    delete="""
        DELETE FROM parent_data WHERE id IN (1, 2); DELETE FROM documents WHERE id = 2;
        DELETE FROM tagged_items WHERE id = 4; DELETE FROM products WHERE id = 3;
        DELETE FROM arrays WHERE id = 3""",
    together="""
        INSERT INTO parent_data VALUES (1, '{"children": ["back"]}');
        UPDATE parent_data SET data = '{"children": [true, true]}' WHERE id = 4;
        UPDATE parent_data SET id = 6 WHERE id = 60;
        DELETE FROM parent_data WHERE id = 5;
        INSERT INTO documents VALUES (5, '{"n": null}'), (6, '{"n": 1}');
        UPDATE documents SET metadata = '{"only": "this"}' WHERE id = 1;
        DELETE FROM documents WHERE id = 40;
        INSERT INTO tagged_items VALUES (7, '{red}');
        UPDATE tagged_items SET tags = '{green}', id = 7 WHERE id = 2;
        DELETE FROM tagged_items WHERE id = 9 AND tags = '{red}';
        INSERT INTO products VALUES (6, '[101]');
        UPDATE products SET prices = '[1000]' WHERE id = 4;
        DELETE FROM products WHERE id = 1;
        INSERT INTO arrays VALUES (3, '[3, 3]');
        UPDATE arrays SET data = '[]' WHERE id = 1;
        DELETE FROM arrays WHERE id = 50""",
)

KEYLESS_EVENTS = TableSet(
    tables=("events",),
    create="CREATE TABLE events (ts TIMESTAMPTZ, payload JSONB)",
    rows="""
        INSERT INTO events VALUES
        ('2026-03-29 00:59:59+00', '{"type": "click"}'),
        ('2026-03-29 01:00+00', '{"type": "view"}'),
        ('2026-03-29 03:30+02', '{"type": "click"}'), ('2026-03-29 03:30+02', '{"type": "click"}'),
        (NULL, '{"type": null}'), ('2026-03-29 05:00+00', '{}'), ('2026-03-29 05:10+00', NULL)""",
    insert="""
        INSERT INTO events VALUES ('2026-03-29 03:30+02', '{"type": "click"}'),
                                  ('2026-03-29 09:00+00', '{"type": "buy"}')""",
    update="UPDATE events SET payload = payload || '{\"n\": 1}' WHERE payload->>'type' = 'view'",
    move="""
        UPDATE events SET ts = ts + interval '1 hour', payload = '{"type": "buy"}'
        WHERE payload = '{"type": "click"}' AND ts < '2026-03-29 01:00+00'""",
    delete="DELETE FROM events WHERE payload->>'type' = 'view' OR ts IS NULL",
    together="""
        INSERT INTO events VALUES (NULL, '{"type": "quit"}'), ('2026-03-30 00:00+00', '"type"');
        UPDATE events SET payload = '{"type": "click", "x": 1}' WHERE payload = '{}';
        UPDATE events SET payload = '{"type": "quit"}' WHERE payload->>'type' = 'buy';
        DELETE FROM events WHERE payload = '{"type": "click"}'""",
)

JSON = TableSet(
    tables=("events", "json_data", "measurements"),
    create="""
        CREATE TABLE events (id int PRIMARY KEY, payload jsonb);
        CREATE TABLE json_data (id int PRIMARY KEY, data text);
        CREATE TABLE measurements (id int PRIMARY KEY, a int, b text, c numeric)""",
    rows="""
        INSERT INTO events VALUES (1, '{"a": 1}'), (2, NULL), (3, 'null'), (4, '[1, 2]');
        INSERT INTO json_data VALUES (1, '{"a": 1}'), (2, '[1]'), (3, '7'), (4, 'not json'),
                                     (5, NULL), (6, ''), (7, '"text"');
        INSERT INTO measurements VALUES (1, 1, 'x"y', 1.50), (2, NULL, NULL, NULL),
                                        (3, 0, '', 0)""",
    insert="""
        INSERT INTO events VALUES (5, '"five"');
        INSERT INTO json_data VALUES (8, '{'), (9, '[{}]');
        INSERT INTO measurements VALUES (4, -4, 'four', 4.0)""",
    update="""
        UPDATE events SET payload = '{"b": [null]}' WHERE id = 1;
        UPDATE json_data SET data = '[' || data || ']' WHERE id IN (1, 4, 8);
        UPDATE measurements SET a = NULL, c = 2.000 WHERE id = 1""",
    move="""
        UPDATE events SET id = 50, payload = NULL WHERE id = 5;
        UPDATE json_data SET id = 80 WHERE id = 8;
        UPDATE measurements SET id = 40 WHERE id = 4""",
    delete="""
        DELETE FROM events WHERE id IN (3, 50);
        DELETE FROM json_data WHERE id IN (2, 5);
        DELETE FROM measurements WHERE id = 2""",
    together="""
        INSERT INTO events VALUES (3, 'true'), (6, '6');
        UPDATE events SET payload = '{"c": 2}' WHERE id = 2;
        UPDATE events SET id = 40 WHERE id = 4;
        DELETE FROM events WHERE id = 1;
        INSERT INTO json_data VALUES (2, 'null'), (10, ' {} ');
        UPDATE json_data SET data = NULL WHERE id = 3;
        DELETE FROM json_data WHERE id = 6;
        INSERT INTO measurements VALUES (2, 2, 'two', 2);
        UPDATE measurements SET b = NULL WHERE id = 3;
        DELETE FROM measurements WHERE id = 1""",
)

PARTITIONED = TableSet(
    tables=("orders",),
    create="""
        CREATE TABLE orders (
        id INT, region TEXT, amount NUMERIC
        ) PARTITION BY LIST (region);
        CREATE TABLE orders_us PARTITION OF orders FOR VALUES IN ('US');
        CREATE TABLE orders_eu PARTITION OF orders FOR VALUES IN ('EU')""",
    rows="INSERT INTO orders VALUES (1, 'US', 10), (1, 'US', 10), (2, 'EU', 5.5), (3, 'EU', NULL)",
    insert="INSERT INTO orders VALUES (4, 'US', 1), (5, 'EU', 2)",
    update="UPDATE orders SET amount = amount + 1 WHERE region = 'US'",
    move="UPDATE orders SET region = 'EU' WHERE id = 4",
    delete="DELETE FROM orders WHERE id = 2",
    together="""
        INSERT INTO orders VALUES (6, 'US', 100), (7, 'EU', 50);
        INSERT INTO orders_us VALUES (8, 'US', 9);
        UPDATE orders SET amount = 0 WHERE id = 5;
        UPDATE orders SET region = 'US' WHERE id = 3;
        DELETE FROM orders WHERE id = 1""",
)

MEASURES = TableSet(
    tables=("t", "s", "test_source"),
    create="""
        CREATE TABLE t (a text, b int, c boolean, v numeric, x int);
        CREATE TABLE s (a int);
        CREATE TABLE test_source (id INT PRIMARY KEY, val TEXT)""",
    rows="""
        INSERT INTO t VALUES ('p', 1, true, 1.5, 3), ('p', 1, true, 1.5, 3), ('p', 2, NULL, 2, 8),
            ('q', 1, false, NULL, 8), (NULL, NULL, NULL, 4, NULL), ('p', NULL, true, 5, 1);
        INSERT INTO s VALUES (1), (1), (NULL);
        INSERT INTO test_source VALUES (1, 'hello'), (2, NULL)""",
    insert="""
        INSERT INTO t VALUES ('r', 3, true, 9, 9), ('p', 1, false, 0, 1);
        INSERT INTO s VALUES (2); INSERT INTO test_source VALUES (3, 'three')""",
    update="""
        UPDATE t SET v = v + 1, x = x - 1 WHERE b = 1;
        UPDATE s SET a = 9 WHERE a = 2; UPDATE test_source SET val = 'bye' WHERE id = 1""",
    move="""
        UPDATE t SET a = NULL, b = b + 1 WHERE c;
        UPDATE s SET a = 2 WHERE a IS NULL; UPDATE test_source SET id = 30 WHERE id = 3""",
    delete="""
        DELETE FROM t WHERE a = 'q' OR x >= 8;
        DELETE FROM s WHERE a = 9; DELETE FROM test_source WHERE id = 2""",
    together="""
        INSERT INTO t VALUES ('q', 7, NULL, 7, 77), ('q', 7, true, 8, 7);
        UPDATE t SET v = NULL WHERE a = 'p';
        UPDATE t SET c = NOT c WHERE a IS NULL;
        DELETE FROM t WHERE b = 3;
        INSERT INTO s VALUES (5); UPDATE s SET a = NULL WHERE a = 1; DELETE FROM s WHERE a = 2;
        INSERT INTO test_source VALUES (2, 'two'); UPDATE test_source SET val = '' WHERE id = 1;
        UPDATE test_source SET id = 3 WHERE id = 30; DELETE FROM test_source WHERE id = 3""",
)

EXPRESSIONS = TableSet(
    tables=("items",),
    create="""
        CREATE TYPE pair AS (field int, other text);
        CREATE TABLE items (id int PRIMARY KEY, name text, category text, status int,
            amount numeric(10,2), price numeric(10,2), max_price numeric(10,2), divisor int,
            phone text, email text, score int, score1 int, score2 int, score3 int, a int, b int,
            active boolean, flag boolean, arr int[], rec pair)""",
    rows="""
        INSERT INTO items
        SELECT i, substr('a pattern ', 1 + i % 5) || i, (ARRAY['A', 'B', 'D', NULL])[1 + i % 4],
               i % 4, i * 37 % 211, i * 11 % 97, 40, i % 3, nullif('p' || i % 2, 'p0'),
               nullif('e' || i % 3, 'e0'), 40 + i * 7 % 40, i % 5, i % 7, nullif(i % 3, 0),
               nullif(i % 3, 0), nullif(i % 2, 0), (ARRAY[true, false, NULL])[1 + i % 3],
               (ARRAY[NULL, true, false, true])[1 + i % 4], ARRAY[i, i + 1],
               CASE WHEN i % 5 <> 0 THEN (i, 'o' || i)::pair END
        FROM generate_series(1, 24) i""",
    insert="""
        INSERT INTO items (id, name, category) VALUES (100, 'pattern', 'C'), (101, NULL, 'A');
        INSERT INTO items (id, amount, price, arr, rec, active)
        VALUES (102, 100.01, 100, '{}', (NULL, NULL), false)""",
    update="""
        UPDATE items SET amount = 150, price = 10, score = 61, a = b, b = a, arr = arr[2:] || 9
        WHERE id % 4 = 1""",
    move="UPDATE items SET id = id + 1000, category = 'C', status = 1 WHERE id % 6 = 2",
    delete="DELETE FROM items WHERE id % 7 = 3",
    together="""
        INSERT INTO items (id, name, category, a, b) VALUES (3, 'a pattern!', 'B', NULL, NULL);
        UPDATE items SET active = NOT active, flag = NULL, rec.other = 'x' WHERE id % 5 = 0;
        UPDATE items SET category = NULL WHERE category = 'A';
        DELETE FROM items WHERE id IN (1, 2, 100)""",
)
