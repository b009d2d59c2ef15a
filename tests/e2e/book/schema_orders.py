"""Source tables of the shop: orders of several shapes, with customers, users and products."""

from __future__ import annotations

from e2e.book.cases import TableSet

TUTORIAL_ORDERS = TableSet(
    tables=("orders",),
    create="""
        CREATE TABLE orders (
            id SERIAL PRIMARY KEY,
            customer TEXT NOT NULL,
            amount NUMERIC(10,2) NOT NULL
        )""",
    rows="""
        INSERT INTO orders (id, customer, amount) VALUES
        (1, 'alice', 49.99), (2, 'alice', 30.00), (3, 'bob', 75.00), (4, 'bob', 25.00),
        (5, 'carol', 0), (6, 'carol', -12.50), (7, 'dave', 75.00)""",
    insert="INSERT INTO orders (id, customer, amount) VALUES (8, 'alice', 49.99), (9, 'eve', 1.01)",
    update="UPDATE orders SET amount = amount * 2 WHERE id IN (1, 6)",
    move="UPDATE orders SET customer = 'bob' WHERE id IN (2, 7)",
    delete="DELETE FROM orders WHERE id IN (5, 9)",
    together="""
        INSERT INTO orders (id, customer, amount) VALUES (10, 'charlie', 100), (11, 'dave', 3);
        UPDATE orders SET amount = 200 WHERE customer = 'charlie';
        UPDATE orders SET customer = 'zoe' WHERE id IN (3, 4);
        DELETE FROM orders WHERE id IN (1, 11)""",
)

SALES = TableSet(
    tables=("orders", "sales", "limits"),
    create="""
        CREATE TABLE orders (id int PRIMARY KEY, region text, amount numeric(10,2), status text,
                             created_at timestamptz NOT NULL);
        CREATE TABLE sales (id int PRIMARY KEY, region text, dept text, revenue numeric(12,2),
                            amount int);
        CREATE TABLE limits (id int PRIMARY KEY, threshold numeric)""",
    rows="""
        INSERT INTO orders
        SELECT i, (ARRAY['north', 'south', 'east', NULL])[1 + i % 4],
               CASE WHEN i % 10 = 7 THEN NULL ELSE i * 37 % 101 + 0.25 END,
               (ARRAY['active', 'shipped', 'pending', 'active', NULL])[1 + i % 5],
               timestamptz '2026-01-31 22:00+00' + i * interval '17 minutes'
        FROM generate_series(1, 125) i;
        INSERT INTO sales VALUES
        (1, 'north', 'food', 100, 10), (2, 'north', 'food', 100, 10), (3, 'north', 'toys', NULL, 5),
        (4, 'south', 'food', 20.5, NULL), (5, 'south', NULL, 1, 1), (6, NULL, 'toys', 3, 7),
        (7, NULL, NULL, 4, 8), (8, 'east', 'books', 0, 0);
        INSERT INTO limits VALUES (1, 30), (2, 75.5), (3, 75.5)""",
    insert="""
        INSERT INTO orders
        SELECT i, 'west', i, 'shipped', timestamptz '2026-02-01 00:00:30+00' + i * interval '1 h'
        FROM generate_series(201, 204) i;
        INSERT INTO sales VALUES (9, 'west', 'books', 9, 9), (10, 'north', 'food', 100, 10);
        INSERT INTO limits VALUES (4, 90)""",
    update="""
        UPDATE orders SET amount = amount + 0.25, status = 'active' WHERE id % 10 = 1;
        UPDATE sales SET amount = 50, revenue = revenue + 1 WHERE id IN (2, 4);
        UPDATE limits SET threshold = 95 WHERE id = 4""",
    move="""
        UPDATE orders SET region = 'south', status = 'shipped',
                          created_at = created_at - interval '3 days'
        WHERE id IN (2, 3, 104, 202);
        UPDATE sales SET dept = 'toys', region = 'west' WHERE id IN (1, 5, 7);
        UPDATE limits SET threshold = NULL WHERE id = 1""",
    delete="""
        DELETE FROM orders WHERE id % 9 = 0 OR region = 'west';
        DELETE FROM sales WHERE id IN (3, 6, 8);
        DELETE FROM limits WHERE threshold IS NULL""",
    together="""
        INSERT INTO orders VALUES (301, 'east', 1000, 'active', '2026-03-01 00:00+00'),
                                  (302, 'east', NULL, NULL, '2025-03-01 00:00+00');
        UPDATE orders SET amount = 5000 WHERE id = 10;
        UPDATE orders SET region = NULL WHERE region = 'north';
        DELETE FROM orders WHERE id BETWEEN 40 AND 50;
        INSERT INTO sales VALUES (11, NULL, 'food', 1, 1);
        UPDATE sales SET amount = amount + 1 WHERE region = 'north';
        UPDATE sales SET dept = NULL WHERE id = 2;
        DELETE FROM sales WHERE id = 4;
        INSERT INTO limits VALUES (5, 99);
        UPDATE limits SET threshold = 1 WHERE id = 2;
        DELETE FROM limits WHERE id = 4""",
)

USERS = TableSet(
    tables=("orders", "users"),
    create="""
        CREATE TABLE users (id int PRIMARY KEY, name text, age int, active boolean,
                            contact_info jsonb);
        CREATE TABLE orders (id int PRIMARY KEY, user_id int, amount numeric(10,2));
        CREATE INDEX ON orders (user_id)""",
    rows="""
        INSERT INTO users VALUES
        (1, 'ann', 30, true, '{"phones": [{"type": "home", "number": "1"},
                                          {"type": "work", "number": "2"}]}'),
        (2, 'Bob', NULL, true, '{"phones": []}'), (3, 'Ärne', 7, false, NULL),
        (4, NULL, 41, NULL, '{"phones": [{"number": "3"}, {"number": "3"}]}'),
        (5, 'ann', 30, true, '[]'), (6, 'zed "z"', 0, true, '{"phones": [{"type": "home"}]}');
        INSERT INTO orders VALUES
        (1, 1, 10), (2, 1, 10), (3, 2, 5.50), (4, 3, 100), (5, NULL, 3), (6, 5, NULL), (7, 6, 8)""",
    insert="""
        INSERT INTO users VALUES (7, 'gil', 19, true, '{"phones": [{"type": "x", "number": "9"}]}');
        INSERT INTO orders VALUES (8, 7, 12), (9, 2, 0.50), (10, 99, 4)""",
    update="""
        UPDATE users SET name = 'Ann', age = age + 1, contact_info = '{"phones": [{"number": "7"}]}'
        WHERE id = 1;
        UPDATE users SET active = true WHERE id IN (3, 4);
        UPDATE orders SET amount = amount + 1 WHERE id IN (1, 4, 7)""",
    move="""
        UPDATE users SET id = 99 WHERE id = 7;
        UPDATE orders SET user_id = user_id + 1 WHERE user_id IN (1, 2, 5)""",
    delete="DELETE FROM users WHERE id IN (2, 5); DELETE FROM orders WHERE id IN (2, 5, 9)",
    together="""
        INSERT INTO users VALUES (2, 'new', NULL, true, NULL), (8, 'late', 1, false, '{}');
        UPDATE users SET name = lower(name), active = NOT active WHERE id IN (1, 3, 6);
        UPDATE users SET id = 5 WHERE id = 4;
        DELETE FROM users WHERE id = 99;
        INSERT INTO orders VALUES (11, 2, 77), (12, 5, 78);
        UPDATE orders SET amount = 0 WHERE id = 7;
        UPDATE orders SET user_id = 1 WHERE id IN (8, 10);
        DELETE FROM orders WHERE id = 4""",
)

CUSTOMERS = TableSet(
    tables=("orders", "customers", "newsletter_subscribers"),
    create="""
        CREATE TABLE customers (
            id SERIAL PRIMARY KEY,
            name TEXT NOT NULL,
            tier TEXT NOT NULL DEFAULT 'standard',
            email TEXT
        );
        CREATE TABLE orders (
            id SERIAL PRIMARY KEY,
            customer_id INT REFERENCES customers(id) DEFERRABLE INITIALLY DEFERRED,
            amount NUMERIC(10,2),
            status TEXT
        );
        CREATE TABLE newsletter_subscribers (id int PRIMARY KEY, email text);
        CREATE VIEW active_orders AS
        SELECT * FROM orders WHERE status = 'active'""",
    rows="""
        INSERT INTO customers VALUES
        (1, 'alice', 'premium', 'a@x'), (2, 'bob', 'standard', NULL), (3, 'bob', 'standard', 'b@x'),
        (4, 'carol', 'standard', 'c@x'), (5, 'dan', 'premium', 'a@x');
        INSERT INTO orders VALUES
        (1, 1, 50.00, 'active'), (2, 1, 930.00, 'active'), (3, 2, 75.00, 'done'),
        (4, 3, 1200, 'active'), (5, NULL, 5000, 'active'), (6, 3, 1, NULL), (7, 1, NULL, 'done');
        INSERT INTO newsletter_subscribers VALUES
        (1, 'a@x'), (2, 'n@x'), (3, 'n@x'), (4, NULL), (5, 'c@x')""",
    insert="""
        INSERT INTO customers VALUES (6, 'eve', 'standard', 'n@x'), (10, 'ida', 'new', NULL);
        INSERT INTO orders VALUES (8, 6, 20, 'active'), (9, 1, 30, 'active'), (10, 2, 30, 'active');
        INSERT INTO newsletter_subscribers VALUES (6, 'e@x')""",
    update="""
        UPDATE customers SET tier = 'premium', email = 'bob@x' WHERE name = 'bob';
        UPDATE orders SET amount = amount + 1000, status = 'active' WHERE id IN (3, 6);
        UPDATE newsletter_subscribers SET email = 'bob@x' WHERE id = 2""",
    move="""
        UPDATE customers SET id = 7 WHERE id = 5;
        UPDATE orders SET customer_id = 4 WHERE customer_id = 1 OR customer_id IS NULL;
        UPDATE newsletter_subscribers SET id = 20, email = NULL WHERE id = 5""",
    delete="""
        DELETE FROM orders WHERE customer_id IN (2, 6);
        DELETE FROM customers WHERE id IN (2, 6, 10);
        DELETE FROM newsletter_subscribers WHERE id IN (1, 3, 20)""",
    together="""
        INSERT INTO customers VALUES (8, 'flo', 'new', 'e@x'), (9, 'gus', 'new', NULL);
        INSERT INTO orders VALUES (11, 8, 2000, 'active'), (12, 4, 1, 'done');
        UPDATE customers SET name = 'Carol' WHERE id = 4;
        UPDATE orders SET status = 'done' WHERE id IN (1, 9);
        UPDATE orders SET customer_id = 7 WHERE customer_id = 3;
        DELETE FROM customers WHERE id = 3;
        DELETE FROM orders WHERE id = 5;
        INSERT INTO newsletter_subscribers VALUES (7, 'a@x');
        UPDATE newsletter_subscribers SET email = 'z@x' WHERE id = 2;
        DELETE FROM newsletter_subscribers WHERE id = 6""",
)

SHOP = TableSet(
    tables=("orders", "customers", "products"),
    create="""
        CREATE TABLE customers (id int PRIMARY KEY, name text);
        CREATE TABLE products (id int PRIMARY KEY, title text);
        CREATE TABLE orders (id int PRIMARY KEY, cust_id int, prod_id int);
        CREATE INDEX ON orders (cust_id);
        CREATE INDEX ON orders (prod_id)""",
    rows="""
        INSERT INTO customers VALUES (1, 'ann'), (2, 'bob'), (3, 'cy'), (4, NULL);
        INSERT INTO products VALUES (1, 'pen'), (2, 'ink'), (3, NULL);
        INSERT INTO orders VALUES (1, 3, 1), (2, 3, 2), (3, 1, 1), (4, NULL, 3), (5, 4, 3),
                                  (6, 9, 9)""",
    insert="""
        INSERT INTO customers VALUES (9, 'ida');
        INSERT INTO products VALUES (9, 'cap');
        INSERT INTO orders VALUES (7, 2, 2), (8, 2, 2)""",
    update="""
        UPDATE customers SET name = 'Ann' WHERE id = 1;
        UPDATE products SET title = 'red ink' WHERE id = 2;
        UPDATE orders SET id = 40 WHERE id = 4""",
    move="""
        UPDATE orders SET cust_id = 2, prod_id = 1 WHERE id IN (2, 5, 40);
        UPDATE customers SET id = 5 WHERE id = 2;
        UPDATE products SET id = 5 WHERE id = 3""",
    delete="""
        DELETE FROM customers WHERE id IN (1, 9); DELETE FROM products WHERE id = 9;
        DELETE FROM orders WHERE id = 1""",
    together="""
        INSERT INTO customers VALUES (2, 'bea');
        INSERT INTO orders VALUES (10, 2, 1), (11, 5, 5);
        UPDATE products SET title = 'pencil' WHERE id = 1;
        UPDATE orders SET cust_id = 5 WHERE cust_id = 3;
        DELETE FROM customers WHERE id = 3;
        INSERT INTO products VALUES (3, 'mug');
        UPDATE orders SET prod_id = 3 WHERE prod_id = 2;
        DELETE FROM products WHERE id = 2;
        DELETE FROM orders WHERE id = 40""",
)

PRODUCTS = TableSet(
    tables=("products", "order_items"),
    create="""
        CREATE TABLE products (id int PRIMARY KEY, name text, price numeric(10,2));
        CREATE TABLE order_items (id int PRIMARY KEY, product_id int, quantity int)""",
    rows="""
        INSERT INTO products VALUES
        (1, 'pen', 1.20), (2, 'ink', NULL), (3, 'pad', 7), (4, 'pad', 7), (5, NULL, 0.5);
        INSERT INTO order_items VALUES (1, 1, 1), (2, 1, 2), (3, 3, 1), (4, 8, 1)""",
    insert="""
        INSERT INTO products VALUES (6, 'cap', 9.99);
        INSERT INTO order_items VALUES (5, NULL, 1), (6, 4, 2)""",
    update="""
        UPDATE products SET name = 'PEN', price = 2 WHERE id = 1;
        UPDATE order_items SET quantity = quantity + 1""",
    move="""
        UPDATE products SET id = 8 WHERE id = 5;
        UPDATE order_items SET product_id = 2 WHERE product_id = 1""",
    delete="""
        DELETE FROM products WHERE id IN (3, 6);
        DELETE FROM order_items WHERE product_id IS NULL OR id = 6""",
    together="""
        INSERT INTO products VALUES (3, 'new pad', 100), (7, 'bag', 3);
        INSERT INTO order_items VALUES (7, 7, 1), (8, NULL, 1);
        UPDATE products SET price = 1000 WHERE id = 2;
        UPDATE order_items SET product_id = 4 WHERE id = 1;
        DELETE FROM products WHERE id = 1;
        DELETE FROM order_items WHERE id IN (3, 8)""",
)
