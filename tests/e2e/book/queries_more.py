"""The queries of the reference's later sections, the tutorials, the FAQ and the operators.

Word for word, but for `pgstream.order_totals`, which is a table of the public schema here. Where
the book shows only a fragment, the query around it is ours.
"""

from __future__ import annotations

from e2e.book.cases import Query

EXPRESSIONS = (
    Query(
        "conditional_expressions",
        "expressions",
        (1124, 1125, 1126, 1127, 1128, 1129),
        """SELECT id, CASE WHEN amount > 100 THEN 'high' ELSE 'low' END AS size,
        CASE status WHEN 1 THEN 'active' WHEN 2 THEN 'inactive' END AS state,
        COALESCE(phone, email, 'unknown') AS contact, amount / NULLIF(divisor, 0) AS share,
        GREATEST(score1, score2, score3) AS best, LEAST(price, max_price) AS capped FROM items""",
    ),
    Query(
        "comparison_operators",
        "expressions",
        (1133, 1134, 1135, 1136, 1137, 1138, 1139),
        """SELECT id, category IN ('A', 'B', 'C') AS listed, price NOT BETWEEN 10 AND 90 AS outside,
        a IS DISTINCT FROM b AS differs, a IS NOT DISTINCT FROM b AS same,
        score > ALL(ARRAY[50,60]) AS good FROM items
        WHERE category NOT IN ('C') AND price BETWEEN 10 AND 50 AND name SIMILAR TO '%pattern%'
        OR id = ANY(ARRAY[1,2,3])""",
    ),
    Query(
        "boolean_tests",
        "expressions",
        (1143, 1144, 1145, 1146, 1147, 1148),
        """SELECT id, active IS TRUE AS t, flag IS NOT TRUE AS nt, active IS FALSE AS f,
        flag IS NOT FALSE AS nf, (a = b) IS UNKNOWN AS u, flag IS NOT UNKNOWN AS nu FROM items""",
    ),
    Query(
        "arrays_and_rows",
        "expressions",
        (1165, 1166, 1167, 1168, 1169),
        """SELECT id, ARRAY[1, 2, 3] AS constant, ARRAY[a, b] AS made, ROW(a, name)::pair AS paired,
        arr[1] AS first, (rec).field AS f, (rec).* FROM items""",
    ),
    Query(
        "big_departments",
        "employees",
        (1195,),
        """SELECT department, COUNT(*) AS cnt FROM employees
        GROUP BY department HAVING COUNT(*) > 10""",
    ),
    Query(
        "event_summary",
        "keyless events",
        (1204,),
        "SELECT payload->>'type' AS event_type, COUNT(*) FROM events GROUP BY 1",
    ),
    Query("sorted_names", "users", (1216,), 'SELECT name COLLATE "C" AS c_name FROM users'),
    Query(
        "valid_json_events",
        "json",
        (1222,),
        "SELECT id, payload FROM events WHERE payload::text IS JSON",
    ),
    Query(
        "json_objects_only",
        "json",
        (1226,),
        """SELECT id, data IS JSON OBJECT AS is_obj,
        data IS JSON ARRAY AS is_arr,
        data IS JSON SCALAR AS is_scalar
        FROM json_data""",
    ),
    Query(
        "user_json",
        "users",
        (1236,),
        "SELECT id, JSON_OBJECT('name' : name, 'age' : age) AS data FROM users",
        compare={"data": "data::text"},
    ),
    Query(
        "value_arrays",
        "json",
        (1240,),
        "SELECT id, JSON_ARRAY(a, b, c) AS arr FROM measurements",
        compare={"arr": "arr::text"},
    ),
    Query(
        "user_phones",
        "users",
        (1251,),
        """SELECT u.id, j.phone_type, j.phone_number
        FROM users u,
        JSON_TABLE(u.contact_info, '$.phones[*]'
        COLUMNS (
        phone_type TEXT PATH '$.type',
        phone_number TEXT PATH '$.number'
        )
        ) AS j""",
    ),
)

INTEROPERABILITY = (
    Query(
        "order_totals",
        "customers",
        (1281, 4331, 4371),
        "SELECT customer_id, SUM(amount) AS total FROM orders GROUP BY customer_id",
    ),
    Query(
        "big_customers",
        "customers",
        (1285, 4375),
        "SELECT customer_id, total FROM order_totals WHERE total > 1000",
    ),
    Query(
        "order_summary",
        "customers",
        (1293,),
        "SELECT customer_id, COUNT(*) FROM active_orders GROUP BY customer_id",
    ),
    Query(
        "order_summary",
        "partitioned",
        (1311, 5924, 5927, 5937),
        "SELECT region, SUM(amount) FROM orders GROUP BY region",
    ),
    Query(
        "order_details",
        "shop",
        (1350,),
        "SELECT o.id, c.name FROM orders o JOIN customers c ON o.cust_id = c.id",
    ),
    Query(
        "multi_dim",
        "measures",
        (1374,),
        """SELECT a, b, c, SUM(v) FROM t
        GROUP BY GROUPING SETS ((a, b, c), (a, b), (a), ())""",
    ),
)

TUTORIALS = (
    Query("active_orders", "sales", (7,), "SELECT * FROM orders WHERE status = 'active'"),
    Query(
        "department_tree",
        "org chart",
        (152,),
        """WITH RECURSIVE tree AS (
        -- Base case: root departments (no parent)
        SELECT id, name, parent_id, name AS path, 0 AS depth
        FROM departments
        WHERE parent_id IS NULL
        UNION ALL
        -- Recursive step: children join back to the tree
        SELECT d.id, d.name, d.parent_id,
        tree.path || ' > ' || d.name AS path,
        tree.depth + 1
        FROM departments d
        JOIN tree ON d.parent_id = tree.id
        )
        SELECT id, name, parent_id, path, depth FROM tree""",
    ),
    Query(
        "department_stats",
        "org chart",
        (199,),
        """SELECT
        t.id AS department_id,
        t.name AS department_name,
        t.path AS full_path,
        t.depth,
        COUNT(e.id) AS headcount,
        COALESCE(SUM(e.salary), 0) AS total_salary,
        COALESCE(AVG(e.salary), 0) AS avg_salary
        FROM department_tree t
        LEFT JOIN employees e ON e.department_id = t.id
        GROUP BY t.id, t.name, t.path, t.depth""",
    ),
    Query(
        "department_report",
        "org chart",
        (243,),
        """SELECT
        split_part(full_path, ' > ', 2) AS division,
        SUM(headcount) AS total_headcount,
        SUM(total_salary) AS total_payroll
        FROM department_stats
        WHERE depth >= 1
        GROUP BY 1""",
    ),
    Query("test_st", "measures", (1888,), "SELECT id, val FROM test_source"),
    Query(
        "customer_totals",
        "tutorial orders",
        (3355, 3528, 3755, 4077, 4206),
        """SELECT customer, SUM(amount) AS total, COUNT(*) AS order_count
        FROM orders GROUP BY customer""",
    ),
    Query(
        "order_details",
        "customers",
        (3707, 3935, 4189),
        """SELECT c.name, c.tier, o.amount
        FROM orders o
        JOIN customers c ON o.customer_id = c.id""",
    ),
)

FAQ = (
    Query(
        "cube",
        "sales",
        (4620,),
        "SELECT dept, region, SUM(amount) FROM sales GROUP BY CUBE(dept, region)",
    ),
    Query(
        "cube_rewritten",
        "sales",
        (4622,),
        """SELECT dept, region, SUM(amount) FROM sales GROUP BY dept, region
        UNION ALL
        SELECT dept, NULL::text, SUM(amount) FROM sales GROUP BY dept
        UNION ALL
        SELECT NULL::text, region, SUM(amount) FROM sales GROUP BY region
        UNION ALL
        SELECT NULL::text, NULL::text, SUM(amount) FROM sales""",
    ),
    Query(
        "distinct_on",
        "ranked",
        (4633,),
        """SELECT DISTINCT ON (dept) dept, employee, salary
        FROM employees ORDER BY dept, salary DESC""",
    ),
    Query(
        "distinct_on_rewritten",
        "ranked",
        (4636,),
        """SELECT dept, employee, salary FROM (
        SELECT dept, employee, salary,
        ROW_NUMBER() OVER (PARTITION BY dept ORDER BY salary DESC) AS rn
        FROM employees
        ) sub WHERE rn = 1""",
    ),
    Query(
        "latest_orders",
        "sales",
        (4666,),
        "SELECT * FROM orders ORDER BY created_at DESC LIMIT 100",
    ),
    Query(
        "rank_labels",
        "ranked",
        (4679,),
        """SELECT id, CASE WHEN ROW_NUMBER() OVER (PARTITION BY dept ORDER BY salary DESC) = 1
        THEN 'top' ELSE 'other' END AS rank_label
        FROM employees""",
    ),
    Query(
        "employees_ranked",
        "ranked",
        (4684,),
        """SELECT id, dept, salary,
        ROW_NUMBER() OVER (PARTITION BY dept ORDER BY salary DESC) AS rn
        FROM employees""",
    ),
    Query(
        "employees_labelled",
        "ranked",
        (4688,),
        """SELECT id, CASE WHEN rn = 1 THEN 'top' ELSE 'other' END AS rank_label
        FROM employees_ranked""",
    ),
    Query(
        "above_all_limits",
        "sales",
        (4705,),
        "SELECT id, amount FROM orders WHERE amount > ALL (SELECT threshold FROM limits)",
    ),
    Query(
        "no_limit_reached",
        "sales",
        (4707,),
        """SELECT id, amount FROM orders
        WHERE NOT EXISTS (SELECT 1 FROM limits WHERE threshold >= amount)""",
    ),
    Query(
        "ordered_totals",
        "sales",
        (4712,),
        "SELECT region, SUM(amount) AS total FROM orders GROUP BY region ORDER BY total DESC",
    ),
)

OPERATORS = (
    Query("filter", "sales", (2462,), "SELECT * FROM orders WHERE status = 'shipped'"),
    Query(
        "three_tables",
        "shop",
        (2529,),
        """SELECT o.id, c.name, p.title
        FROM orders o
        JOIN customers c ON o.cust_id = c.id
        JOIN products p ON o.prod_id = p.id""",
    ),
    Query(
        "active_counts",
        "sales",
        (2599,),
        """SELECT COUNT(*) FILTER (WHERE status = 'active') AS active_count
        FROM orders GROUP BY region""",
    ),
    Query(
        "other_aggregates",
        "employees",
        (2565, 2569, 2575, 2578, 2585, 2586, 2591, 2592, 2593, 2595, 2596),
        """SELECT department, BOOL_OR(active) AS any_active, STDDEV(salary) AS sd,
        VARIANCE(salary) AS var, REGR_AVGX(salary, experience) AS ax,
        REGR_AVGY(salary, experience) AS ay, REGR_SXX(salary, experience) AS sxx,
        REGR_SXY(salary, experience) AS sxy, REGR_SYY(salary, experience) AS syy,
        JSONB_AGG(name ORDER BY employee_id) AS names,
        JSON_ARRAYAGG(name ORDER BY employee_id) AS std_names,
        JSON_OBJECTAGG(employee_id : name) AS std_by_id
        FROM employees GROUP BY department""",
        compare={
            "std_names": "std_names::text",
            "std_by_id": "(SELECT array_agg((e.key, e.value) ORDER BY e.key)"
            " FROM json_each_text(std_by_id) e)::text",
        },
        close=("ax", "ay", "sxx", "sxy", "syy"),
    ),
    Query(
        "renamed_columns",
        "measures",
        (2700,),
        "SELECT x.b, x.a FROM (SELECT val, id FROM test_source) AS x(a, b)",
    ),
    Query(
        "sliding_sum",
        "ranked",
        (2827,),
        """SELECT id, SUM(val) OVER (ORDER BY ts ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS s
        FROM data""",
    ),
    Query(
        "named_window",
        "ranked",
        (2830,),
        """SELECT id, SUM(val) OVER w, AVG(val) OVER w
        FROM data
        WINDOW w AS (PARTITION BY category ORDER BY ts)""",
    ),
    Query(
        "one_of_each",
        "lateral",
        (2955,),
        """SELECT p.pk, p.v, q.a, q.b FROM p,
        LATERAL (SELECT a, b FROM t WHERE t.fk = p.pk ORDER BY a, b LIMIT 1) q""",
    ),
    Query(
        "types_of_each",
        "lateral",
        (2956,),
        """SELECT p.pk, q.type, q.count FROM p,
        LATERAL (SELECT type, COUNT(*) FROM t WHERE t.fk = p.pk GROUP BY type) q""",
    ),
    Query("scalar", "measures", (3006,), "SELECT a, (SELECT max(x) FROM t) AS mx FROM s"),
)
