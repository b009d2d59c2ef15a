"""The tutorial as data: what is said, what is run, what is shown."""

from __future__ import annotations

from dataclasses import dataclass

STREAM_TABLES = ("department_report", "department_stats", "department_tree")
"""Readers first, the order in which they are dropped."""

SOURCES = ("employees", "departments")


@dataclass(frozen=True, slots=True)
class Step:
    title: str
    words: str
    statements: tuple[str, ...]
    awaited: int | None = None
    """After this statement nobody asks for a refresh: the worker brings it by itself."""


STEPS = (
    Step(
        "1. Two ordinary tables",
        "Nothing about them is special.",
        (
            """\
CREATE TABLE departments (
    id        serial PRIMARY KEY,
    name      text NOT NULL,
    parent_id int REFERENCES departments (id)
);
CREATE TABLE employees (
    id            serial PRIMARY KEY,
    name          text NOT NULL,
    department_id int NOT NULL REFERENCES departments (id),
    salary        numeric(10,2) NOT NULL
);
CREATE INDEX ON departments (parent_id);
CREATE INDEX ON employees (department_id);""",
            """\
INSERT INTO departments (id, name, parent_id) VALUES
    (1, 'Company', NULL),
    (2, 'Engineering', 1), (3, 'Sales', 1), (4, 'Operations', 1),
    (5, 'Backend', 2), (6, 'Frontend', 2), (7, 'Platform', 2);
INSERT INTO employees (name, department_id, salary) VALUES
    ('Alice', 5, 120000), ('Bob', 5, 115000), ('Charlie', 6, 110000), ('Diana', 7, 130000),
    ('Eve', 3, 95000), ('Frank', 3, 90000), ('Grace', 4, 100000);""",
        ),
    ),
    Step(
        "2. The first stream table: the path of every department",
        "A recursive query: a department's path is its parent's path and its own name.\n"
        "A schedule is at least 60 s by default; the demo asks for 30 s, so it lowers the"
        " minimum.\n"
        "Below each refresh: the changes and the other rows that it read, the rows that it"
        " wrote, and its Spark actions.",
        (
            "SET pg_stream.min_schedule_seconds = 1;",
            """\
SELECT pgstream.create_stream_table('department_tree', $$
    WITH RECURSIVE tree AS (
        SELECT id, name, parent_id, name AS path, 0 AS depth
        FROM departments WHERE parent_id IS NULL
        UNION ALL
        SELECT d.id, d.name, d.parent_id, tree.path || ' > ' || d.name, tree.depth + 1
        FROM departments d JOIN tree ON d.parent_id = tree.id
    )
    SELECT id, name, parent_id, path, depth FROM tree
$$, schedule => 'CALCULATED');""",
            "SELECT pgstream.wait_for_stream_table('department_tree');",
            "SELECT id, name, parent_id, path, depth FROM department_tree ORDER BY path;",
        ),
    ),
    Step(
        "3. Two more layers: stream tables that read stream tables",
        "The LEFT JOIN keeps departments without employees.\n"
        "Only the report has a schedule. CALCULATED takes over the schedule of the readers.",
        (
            """\
SELECT pgstream.create_stream_table('department_stats', $$
    SELECT t.id AS department_id, t.name AS department_name, t.path AS full_path, t.depth,
           COUNT(e.id) AS headcount,
           COALESCE(SUM(e.salary), 0) AS total_salary,
           COALESCE(AVG(e.salary), 0) AS avg_salary
    FROM department_tree t
    LEFT JOIN employees e ON e.department_id = t.id
    GROUP BY t.id, t.name, t.path, t.depth
$$, schedule => 'CALCULATED');""",
            """\
SELECT pgstream.create_stream_table('department_report', $$
    SELECT split_part(full_path, ' > ', 2) AS division,
           SUM(headcount) AS total_headcount,
           SUM(total_salary) AS total_payroll
    FROM department_stats
    WHERE depth >= 1
    GROUP BY 1
$$, schedule => '30s');""",
            "SELECT pgstream.wait_for_stream_table('department_report');",
            """\
SELECT department_name, full_path, headcount, total_salary
FROM department_stats ORDER BY full_path;""",
            "SELECT division, total_headcount, total_payroll FROM department_report"
            " ORDER BY division;",
        ),
    ),
    Step(
        "4a. INSERT: one employee, through all layers",
        "One changed row is read; one group of the stats and one row of the report change.",
        (
            "INSERT INTO employees (name, department_id, salary) VALUES ('Heidi', 6, 105000);",
            "SELECT pgstream.refresh_stream_table('department_report');",
            """\
SELECT department_name, headcount, total_salary
FROM department_stats WHERE department_name = 'Frontend';""",
            "SELECT division, total_headcount, total_payroll FROM department_report"
            " ORDER BY division;",
        ),
    ),
    Step(
        "4b. INSERT: a new department",
        "DevOps has no employees, so the change ends in the first layer.",
        (
            "INSERT INTO departments (id, name, parent_id) VALUES (8, 'DevOps', 2);",
            "SELECT pgstream.refresh_stream_table('department_report');",
            "SELECT id, name, depth, path FROM department_tree WHERE name = 'DevOps';",
        ),
    ),
    Step(
        "4c. UPDATE: one new name, everywhere",
        "The path of five departments changes, and with it the stats and the report.",
        (
            "UPDATE departments SET name = 'R&D' WHERE id = 2;",
            "SELECT pgstream.refresh_stream_table('department_report');",
            "SELECT name, path FROM department_tree WHERE path LIKE '%R&D%' ORDER BY depth, name;",
            "SELECT division, total_headcount, total_payroll FROM department_report"
            " ORDER BY division;",
        ),
    ),
    Step(
        "4d. DELETE: an employee leaves",
        "Only department_stats, and what it reads, is refreshed here.",
        (
            "DELETE FROM employees WHERE name = 'Bob';",
            "SELECT pgstream.refresh_stream_table('department_stats');",
            """\
SELECT department_id, department_name, headcount, total_salary,
       round(avg_salary, 2) AS avg_salary
FROM department_stats WHERE department_name = 'Backend';""",
        ),
    ),
    Step(
        "5. The schedule does it",
        "The report still counts Bob. Nobody asks for a refresh now; its schedule brings one.",
        (
            "SELECT pgstream.alter_stream_table('department_report', schedule => '1s');",
            "SELECT division, total_headcount, total_payroll FROM department_report"
            " ORDER BY division;",
            "SELECT pgstream.alter_stream_table('department_report', schedule => '30s');",
        ),
        awaited=0,
    ),
    Step(
        "6. Every commit does it",
        "Only the report has a schedule, and what it reads follows. `on change` refreshes as soon"
        " as a transaction has committed.",
        (
            "SELECT pgstream.alter_stream_table('department_report', schedule => 'on change');",
            "INSERT INTO employees (name, department_id, salary) VALUES ('Ivan', 8, 108000);",
            "SELECT division, total_headcount, total_payroll FROM department_report"
            " ORDER BY division;",
            "SELECT pgstream.alter_stream_table('department_report', schedule => '30s');",
        ),
        awaited=1,
    ),
)
