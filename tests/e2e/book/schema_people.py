"""Source tables of the company: departments, employees and hierarchies."""

from __future__ import annotations

from e2e.book.cases import TableSet

ORG_CHART = TableSet(
    tables=("employees", "departments"),
    create="""
        CREATE TABLE departments (
            id SERIAL PRIMARY KEY,
            name TEXT NOT NULL,
            parent_id INT REFERENCES departments(id)
        );
        CREATE TABLE employees (
            id SERIAL PRIMARY KEY,
            name TEXT NOT NULL,
            department_id INT NOT NULL REFERENCES departments(id),
            salary NUMERIC(10,2) NOT NULL
        )""",
    rows="""
        INSERT INTO departments (id, name, parent_id) VALUES
        (1, 'Company', NULL), (2, 'Engineering', 1), (3, 'Sales', 1), (4, 'Operations', 1),
        (5, 'Backend', 2), (6, 'Frontend', 2), (7, 'Platform', 2);
        INSERT INTO employees (id, name, department_id, salary) VALUES
        (1, 'Alice', 5, 120000), (2, 'Bob', 5, 115000), (3, 'Charlie', 6, 110000),
        (4, 'Diana', 7, 130000), (5, 'Eve', 3, 95000), (6, 'Frank', 3, 90000),
        (7, 'Grace', 4, 100000)""",
    insert="""
        INSERT INTO employees (id, name, department_id, salary) VALUES (8, 'Heidi', 6, 105000);
        INSERT INTO departments (id, name, parent_id) VALUES (8, 'DevOps', 2), (9, 'Rust', 5)""",
    update="""
        UPDATE departments SET name = 'R&D' WHERE id = 2;
        UPDATE employees SET salary = salary + 0.5 WHERE department_id = 5""",
    move="""
        UPDATE departments SET parent_id = 4 WHERE id = 5;
        UPDATE employees SET department_id = 9 WHERE id IN (2, 8)""",
    delete="""
        DELETE FROM employees WHERE department_id IN (7, 9);
        DELETE FROM departments WHERE id IN (7, 8, 9)""",
    together="""
        INSERT INTO departments VALUES (10, 'Holding', NULL), (11, 'Lab', 6);
        UPDATE departments SET parent_id = 10 WHERE id = 1;
        UPDATE departments SET name = 'Back > End' WHERE id = 5;
        INSERT INTO employees VALUES (9, 'Ivan', 11, 1), (10, 'Judy', 10, 2);
        UPDATE employees SET department_id = 2 WHERE department_id = 3;
        DELETE FROM departments WHERE id = 3;
        UPDATE employees SET salary = 0 WHERE id = 1;
        DELETE FROM employees WHERE id = 7""",
)

EMPLOYEES = TableSet(
    tables=("employees",),
    create="""
        CREATE TABLE employees (employee_id int PRIMARY KEY, name text, department text,
            salary numeric(10,2), experience int, grade text, active boolean,
            permissions int, flags int, office_location text)""",
    rows="""
        INSERT INTO employees
        SELECT i, (ARRAY['ann', 'bob', 'cy', NULL])[1 + i % 4],
               (ARRAY['eng', 'eng', 'ops', 'hr', NULL])[1 + i % 5],
               CASE WHEN i % 7 <> 0 THEN 1000 + i * 7919 % 1009 END,
               CASE WHEN i % 11 <> 0 THEN i * 31 % 17 END,
               'g' || i * i % 3, (ARRAY[true, true, false, NULL])[1 + i % 4],
               CASE WHEN i % 6 <> 0 THEN 1 + i % 13 END, i * 5 % 32,
               (ARRAY['oslo', 'rome', NULL])[1 + i % 3]
        FROM generate_series(1, 29) i;
        INSERT INTO employees VALUES (30, 'solo', 'lab', 500, 3, 'g9', true, 4, 4, NULL)""",
    insert="""
        INSERT INTO employees VALUES
        (31, 'cy', 'ops', 1500, 4, 'g1', true, 8, 1, 'bern'),
        (32, 'dee', 'new', NULL, NULL, NULL, NULL, NULL, NULL, NULL),
        (33, 'eve', 'lab', 510.5, 5, 'g9', false, 6, 6, 'oslo')""",
    update="""
        UPDATE employees SET salary = salary + 100.5, active = true, grade = 'g2', permissions = 17,
                             name = 'X' || name, office_location = 'rome'
        WHERE employee_id % 8 = 2""",
    move="""
        UPDATE employees SET department = 'ops' WHERE department = 'eng' AND employee_id < 9;
        UPDATE employees SET department = 'hr' WHERE department IS NULL AND employee_id > 20""",
    delete="DELETE FROM employees WHERE employee_id % 10 IN (0, 6)",
    together="""
        INSERT INTO employees
        SELECT 100 + i, 'n' || i, 'bulk', i * i, i, 'g', i % 2 = 0, i, i, 'nice'
        FROM generate_series(1, 12) i;
        UPDATE employees SET salary = NULL, active = NULL, permissions = permissions + 1
        WHERE employee_id IN (5, 7, 31);
        UPDATE employees SET department = NULL WHERE department = 'hr';
        DELETE FROM employees WHERE employee_id IN (1, 2, 32)""",
)

CONFIG = TableSet(
    tables=("config",),
    create="""
        CREATE TABLE config (department text, setting_name text NOT NULL, setting_value text,
                             key text NOT NULL, value jsonb, UNIQUE (department, setting_name),
                             UNIQUE (department, key))""",
    rows="""
        INSERT INTO config VALUES
        ('eng', 'color', 'red', 'a', '1'), ('eng', 'size', NULL, 'b', '{"x": [1, 2]}'),
        ('eng', 'mode', 'f"ast', 'c', NULL), ('ops', 'color', 'red', 'a', 'null'),
        ('hr', 'size', 'XL', 'a', '"text"')""",
    insert="INSERT INTO config VALUES ('ops', 'size', 'S', 'b', '2'), ('lab', 'x', 'y', 'z', '[]')",
    update="UPDATE config SET setting_value = 'blue', value = '7.50' WHERE setting_name = 'color'",
    move="UPDATE config SET department = 'ops' WHERE department = 'eng' AND key = 'c'",
    delete="DELETE FROM config WHERE setting_name = 'size'",
    together="""
        INSERT INTO config VALUES (NULL, 'x', 'y', 'k', '{}');
        UPDATE config SET setting_value = NULL WHERE department = 'eng';
        UPDATE config SET department = 'hr' WHERE department = 'lab';
        DELETE FROM config WHERE department = 'ops' AND key = 'a'""",
)

HIERARCHIES = TableSet(
    tables=("categories", "employees"),
    create="""
        CREATE TABLE categories (id int PRIMARY KEY, name text, parent_id int);
        CREATE INDEX ON categories (parent_id);
        CREATE TABLE employees (id int PRIMARY KEY, name text, manager_id int);
        CREATE INDEX ON employees (manager_id)""",
    rows="""
        INSERT INTO categories VALUES
        (1, 'all', NULL), (2, 'books', 1), (3, 'toys', 1), (4, 'poems', 2), (5, 'haiku', 4),
        (6, 'lost', 77), (7, 'other root', NULL), (8, NULL, 7);
        INSERT INTO employees VALUES
        (1, 'boss', NULL), (2, 'ann', 1), (3, 'bob', 1), (4, 'cy', 2), (5, 'cy', 4), (6, 'dee', 4),
        (7, 'orphan', 70)""",
    insert="""
        INSERT INTO categories VALUES (9, 'dice', 3), (10, 'epic', 4);
        INSERT INTO employees VALUES (70, 'found', 3), (8, 'eve', 5)""",
    update="""
        UPDATE categories SET name = 'BOOKS' WHERE id = 2; UPDATE categories SET name = '?'
        WHERE id = 8;
        UPDATE employees SET name = 'Boss' WHERE id = 1""",
    move="""
        UPDATE categories SET parent_id = 7 WHERE id = 4;
        UPDATE employees SET manager_id = 3 WHERE id = 4""",
    delete="DELETE FROM categories WHERE id = 1; DELETE FROM employees WHERE id = 5",
    together="""
        INSERT INTO categories VALUES (1, 'ALL', 7), (77, 'lost and found', 1);
        UPDATE categories SET name = 'short' WHERE id = 5;
        UPDATE categories SET parent_id = NULL WHERE id = 3;
        DELETE FROM categories WHERE id = 10;
        INSERT INTO employees VALUES (5, 'back', 6), (9, 'top', NULL);
        UPDATE employees SET manager_id = 9 WHERE id = 1;
        UPDATE employees SET name = 'Bob' WHERE id = 3;
        DELETE FROM employees WHERE id = 2""",
)

LATERAL = TableSet(
    tables=("orders", "line_items", "departments", "employees", "p", "t"),
    create="""
        CREATE TABLE orders (id int PRIMARY KEY, customer text);
        CREATE TABLE line_items (id int PRIMARY KEY, order_id int, amount numeric(10,2),
                                 created_at timestamp, UNIQUE (order_id, created_at));
        CREATE TABLE departments (id int PRIMARY KEY, name text);
        CREATE TABLE employees (id int PRIMARY KEY, dept_id int, salary numeric(10,2));
        CREATE TABLE p (pk int PRIMARY KEY, v int);
        CREATE TABLE t (fk int, type text, a int, b int)""",
    rows="""
        INSERT INTO orders VALUES (1, 'ann'), (2, 'bob'), (3, 'bob'), (4, NULL);
        INSERT INTO line_items VALUES
        (1, 1, 10, '2026-01-01'), (2, 1, 20, '2026-01-02'), (3, 2, 5, '2026-01-01'),
        (4, 2, 7, NULL), (5, 9, 1, '2026-01-01'), (6, 4, NULL, '2026-01-01');
        INSERT INTO departments VALUES (1, 'eng'), (2, 'ops'), (3, 'hr'), (4, NULL);
        INSERT INTO employees VALUES
        (1, 1, 100), (2, 1, 100), (3, 2, NULL), (4, NULL, 5), (5, 9, 6), (6, 3, 30);
        INSERT INTO p VALUES (1, 10), (2, NULL), (3, 10);
        INSERT INTO t VALUES (1, 'x', 1, 2), (1, 'x', 1, 2), (1, 'y', 0, 9), (2, NULL, NULL, 4),
                             (NULL, 'x', 1, 1), (7, 'x', 1, 1)""",
    insert="""
        INSERT INTO orders VALUES (9, 'new'), (5, 'empty');
        INSERT INTO line_items VALUES (7, 1, 30, '2026-02-01'), (8, 3, 1, '2026-02-01');
        INSERT INTO departments VALUES (9, 'late');
        INSERT INTO employees VALUES (7, 2, 20), (8, 4, 1);
        INSERT INTO p VALUES (7, 0);
        INSERT INTO t VALUES (3, 'z', 5, 5), (1, 'x', -1, 0)""",
    update="""
        UPDATE orders SET customer = 'Ann' WHERE id = 1;
        UPDATE line_items SET amount = amount + 1 WHERE id IN (3, 7);
        UPDATE departments SET name = 'R&D' WHERE id = 1;
        UPDATE employees SET salary = salary * 2 WHERE id IN (1, 3, 6);
        UPDATE p SET v = 11 WHERE pk = 1;
        UPDATE t SET a = 6, b = 7 WHERE type = 'y'""",
    move="""
        UPDATE orders SET id = 6 WHERE id = 2;
        UPDATE line_items SET order_id = 6 WHERE id IN (2, 6);
        UPDATE line_items SET created_at = '2027-01-01' WHERE id = 1;
        UPDATE departments SET id = 5 WHERE id = 3;
        UPDATE employees SET dept_id = 5 WHERE id IN (2, 4);
        UPDATE p SET pk = 8 WHERE pk = 2;
        UPDATE t SET fk = 8 WHERE fk = 7 OR fk IS NULL""",
    delete="""
        DELETE FROM orders WHERE id = 3;
        DELETE FROM line_items WHERE id IN (1, 7);
        DELETE FROM departments WHERE id = 4;
        DELETE FROM employees WHERE dept_id = 2;
        DELETE FROM p WHERE pk = 7;
        DELETE FROM t WHERE a = 1""",
    together="""
        INSERT INTO orders VALUES (2, 'back');
        UPDATE orders SET customer = NULL WHERE id = 9;
        INSERT INTO line_items VALUES (9, 2, 1, '2026-04-01'), (10, 9, 2, '2026-03-01');
        UPDATE line_items SET order_id = 1 WHERE id = 2;
        DELETE FROM line_items WHERE id = 5;
        INSERT INTO departments VALUES (3, 'hr again');
        UPDATE departments SET name = 'x' WHERE id = 9;
        INSERT INTO employees VALUES (9, 3, 3), (10, 1, NULL);
        UPDATE employees SET dept_id = 3 WHERE dept_id = 5;
        DELETE FROM employees WHERE id = 1;
        DELETE FROM departments WHERE id = 5;
        UPDATE p SET pk = 2, v = 1 WHERE pk = 8;
        INSERT INTO t VALUES (2, 'w', 3, 3), (2, 'w', 2, 8);
        DELETE FROM t WHERE fk = 3;
        UPDATE t SET type = 'w' WHERE fk = 1""",
)

RANKED = TableSet(
    tables=("employees", "data"),
    create="""
        CREATE TABLE employees (id int PRIMARY KEY, employee text, dept text, salary int,
                                UNIQUE NULLS NOT DISTINCT (dept, salary));
        CREATE TABLE data (id int PRIMARY KEY, category text, ts timestamptz UNIQUE,
                           val numeric)""",
    rows="""
        INSERT INTO employees VALUES
        (1, 'ann', 'eng', 100), (2, 'bob', 'eng', 90), (3, 'bob', 'eng', 60),
        (4, 'cy', 'ops', NULL), (5, NULL, 'ops', 80), (6, 'dee', NULL, 10), (7, 'eve', NULL, 20);
        INSERT INTO data
        SELECT i, (ARRAY['a', 'b', NULL])[1 + i % 3],
               timestamptz '2026-01-01 00:00+00' + (i * i % 13 * 24 + i) * interval '1 hour',
               CASE WHEN i % 5 <> 0 THEN i * 7 % 10 + 0.5 END
        FROM generate_series(1, 14) i""",
    insert="""
        INSERT INTO employees VALUES (8, 'flo', 'eng', 95), (9, 'gil', 'hr', 5);
        INSERT INTO data VALUES (20, 'a', '2026-01-05 12:00+00', 3), (21, 'c', '2025-01-01', 1)""",
    update="""
        UPDATE employees SET salary = 200, employee = 'BOB' WHERE id = 2;
        UPDATE data SET val = val + 1 WHERE id IN (3, 4, 5)""",
    move="""
        UPDATE employees SET dept = 'ops' WHERE id IN (2, 6);
        UPDATE data SET category = 'b', ts = ts + interval '4 days' WHERE id IN (2, 6, 21)""",
    delete="""
        DELETE FROM employees WHERE id IN (4, 9);
        DELETE FROM data WHERE id IN (1, 7, 20)""",
    together="""
        INSERT INTO employees VALUES (10, 'ned', 'eng', 300), (11, 'top', NULL, NULL);
        UPDATE employees SET salary = 1 WHERE id = 5;
        UPDATE employees SET dept = NULL WHERE dept = 'eng' AND id < 8;
        DELETE FROM employees WHERE id = 7;
        INSERT INTO data VALUES (30, NULL, '2026-01-03 12:00+00', NULL);
        UPDATE data SET val = 0 WHERE category = 'b';
        UPDATE data SET category = NULL WHERE id = 10;
        DELETE FROM data WHERE id = 9""",
)
