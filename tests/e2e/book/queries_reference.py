"""The queries of the SQL reference, word for word."""

from __future__ import annotations

from e2e.book.cases import Query

AGGREGATES = (
    Query(
        "order_totals",
        "sales",
        (524,),
        "SELECT region, SUM(amount) AS total FROM orders GROUP BY region",
    ),
    Query(
        "hourly_summary",
        "keyless events",
        (531,),
        "SELECT date_trunc('hour', ts), COUNT(*) FROM events GROUP BY 1",
    ),
    Query(
        "daily_report",
        "sales",
        (538,),
        "SELECT region, SUM(revenue) AS total FROM sales GROUP BY region",
    ),
    Query(
        "sales_summary",
        "sales",
        (547,),
        """SELECT region, COUNT(*) AS cnt, SUM(amount) AS total, AVG(amount) AS avg_amount
        FROM orders GROUP BY region""",
    ),
    Query(
        "salary_ranges",
        "employees",
        (555,),
        """SELECT department, MIN(salary) AS min_sal, MAX(salary) AS max_sal
        FROM employees GROUP BY department""",
    ),
    Query(
        "team_members",
        "employees",
        (569,),
        """SELECT department,
        STRING_AGG(name, ', ' ORDER BY name) AS members,
        ARRAY_AGG(employee_id) AS member_ids,
        BOOL_AND(active) AS all_active,
        JSON_AGG(name) AS members_json
        FROM employees
        GROUP BY department""",
        compare={
            "member_ids": "(SELECT array_agg(e ORDER BY e) FROM unnest(member_ids) e)",
            "members_json": "(SELECT array_agg(e ORDER BY e)"
            " FROM json_array_elements_text(members_json) e)",
        },
    ),
    Query(
        "permission_summary",
        "employees",
        (582,),
        """SELECT department,
        BIT_OR(permissions) AS combined_perms,
        BIT_AND(permissions) AS common_perms,
        BIT_XOR(flags) AS xor_flags
        FROM employees
        GROUP BY department""",
    ),
    Query(
        "config_map",
        "config",
        (594,),
        """SELECT department,
        JSON_OBJECT_AGG(setting_name, setting_value) AS settings,
        JSONB_OBJECT_AGG(key, value) AS metadata
        FROM config
        GROUP BY department""",
        compare={
            "settings": "(SELECT array_agg((e.key, e.value) ORDER BY e.key)"
            " FROM json_each_text(settings) e)::text",
        },
    ),
    Query(
        "salary_stats",
        "employees",
        (605,),
        """SELECT department,
        STDDEV_POP(salary) AS sd_pop,
        STDDEV_SAMP(salary) AS sd_samp,
        VAR_POP(salary) AS var_pop,
        VAR_SAMP(salary) AS var_samp
        FROM employees
        GROUP BY department""",
    ),
    Query(
        "salary_percentiles",
        "employees",
        (618,),
        """SELECT department,
        MODE() WITHIN GROUP (ORDER BY grade) AS most_common_grade,
        PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY salary) AS median_salary,
        PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY salary) AS p90_salary
        FROM employees
        GROUP BY department""",
    ),
    Query(
        "regression_stats",
        "employees",
        (630,),
        """SELECT department,
        CORR(salary, experience) AS sal_exp_corr,
        COVAR_POP(salary, experience) AS covar_pop,
        COVAR_SAMP(salary, experience) AS covar_samp,
        REGR_SLOPE(salary, experience) AS slope,
        REGR_INTERCEPT(salary, experience) AS intercept,
        REGR_R2(salary, experience) AS r_squared,
        REGR_COUNT(salary, experience) AS regr_n
        FROM employees
        GROUP BY department""",
        close=("sal_exp_corr", "covar_pop", "covar_samp", "slope", "intercept", "r_squared"),
    ),
    Query(
        "dept_sample",
        "employees",
        (646,),
        """SELECT department, ANY_VALUE(office_location) AS sample_office
        FROM employees GROUP BY department""",
        compare={
            "sample_office": "CASE WHEN sample_office IS NOT NULL THEN EXISTS"
            " (SELECT FROM employees e WHERE e.department IS NOT DISTINCT FROM r.department"
            " AND e.office_location = sample_office) END",
        },
    ),
    Query(
        "order_metrics",
        "sales",
        (654,),
        """SELECT region,
        COUNT(*) AS total,
        COUNT(*) FILTER (WHERE status = 'active') AS active_count,
        SUM(amount) FILTER (WHERE status = 'shipped') AS shipped_total
        FROM orders
        GROUP BY region""",
    ),
)

CTES = (
    Query(
        "active_order_totals",
        "users",
        (668,),
        """WITH active_users AS (
        SELECT id, name FROM users WHERE active = true
        )
        SELECT a.id, a.name, SUM(o.amount) AS total
        FROM active_users a
        JOIN orders o ON o.user_id = a.id
        GROUP BY a.id, a.name""",
    ),
    Query(
        "top_regions",
        "sales",
        (681,),
        """WITH regional AS (
        SELECT region, SUM(amount) AS total FROM orders GROUP BY region
        ),
        ranked AS (
        SELECT region, total FROM regional WHERE total > 1000
        )
        SELECT * FROM ranked""",
    ),
    Query(
        "self_compare",
        "users",
        (694,),
        """WITH totals AS (
        SELECT user_id, SUM(amount) AS total FROM orders GROUP BY user_id
        )
        SELECT t1.user_id, t1.total, t2.total AS next_total
        FROM totals t1
        JOIN totals t2 ON t1.user_id = t2.user_id + 1""",
    ),
    Query(
        "category_tree",
        "hierarchies",
        (707,),
        """WITH RECURSIVE cat_tree AS (
        SELECT id, name, parent_id, 0 AS depth
        FROM categories WHERE parent_id IS NULL
        UNION ALL
        SELECT c.id, c.name, c.parent_id, ct.depth + 1
        FROM categories c
        JOIN cat_tree ct ON c.parent_id = ct.id
        )
        SELECT * FROM cat_tree""",
    ),
    Query(
        "org_chart",
        "hierarchies",
        (722,),
        """WITH RECURSIVE reports AS (
        SELECT id, name, manager_id FROM employees WHERE manager_id IS NULL
        UNION ALL
        SELECT e.id, e.name, e.manager_id
        FROM employees e JOIN reports r ON e.manager_id = r.id
        )
        SELECT * FROM reports""",
    ),
)

SET_OPERATIONS = (
    Query(
        "bi_region_customers",
        "stock",
        (737,),
        """SELECT customer_id FROM orders_east
        INTERSECT
        SELECT customer_id FROM orders_west""",
    ),
    Query(
        "common_items",
        "stock",
        (746,),
        """SELECT item_name FROM warehouse_a
        INTERSECT ALL
        SELECT item_name FROM warehouse_b""",
    ),
    Query(
        "unshipped_orders",
        "stock",
        (755,),
        """SELECT order_id FROM orders
        EXCEPT
        SELECT order_id FROM shipments""",
    ),
    Query(
        "excess_inventory",
        "stock",
        (764,),
        """SELECT sku FROM stock_received
        EXCEPT ALL
        SELECT sku FROM stock_shipped""",
    ),
    Query(
        "all_contacts",
        "customers",
        (773,),
        """SELECT email FROM customers
        UNION
        SELECT email FROM newsletter_subscribers""",
    ),
)

LATERAL = (
    Query(
        "flat_children",
        "documents",
        (784,),
        """SELECT p.id, child.value AS val
        FROM parent_data p,
        jsonb_array_elements(p.data->'children') AS child""",
    ),
    Query(
        "flat_properties",
        "documents",
        (793,),
        """SELECT d.id, kv.key, kv.value
        FROM documents d,
        jsonb_each(d.metadata) AS kv""",
    ),
    Query(
        "flat_tags",
        "documents",
        (802,),
        """SELECT t.id, tag.tag
        FROM tagged_items t,
        unnest(t.tags) AS tag(tag)""",
    ),
    Query(
        "high_value_items",
        "documents",
        (811,),
        """SELECT p.id, (e.value)::int AS amount
        FROM products p,
        jsonb_array_elements(p.prices) AS e
        WHERE (e.value)::int > 100""",
    ),
    Query(
        "element_counts",
        "documents",
        (821,),
        """SELECT a.id, count(*) AS cnt
        FROM arrays a,
        jsonb_array_elements(a.data) AS e
        GROUP BY a.id""",
    ),
    Query(
        "latest_items",
        "lateral",
        (833,),
        """SELECT o.id, o.customer, latest.amount
        FROM orders o,
        LATERAL (
        SELECT li.amount
        FROM line_items li
        WHERE li.order_id = o.id
        ORDER BY li.created_at DESC
        LIMIT 1
        ) AS latest""",
    ),
    Query(
        "dept_summaries",
        "lateral",
        (848,),
        """SELECT d.id, d.name, stats.total, stats.cnt
        FROM departments d,
        LATERAL (
        SELECT SUM(e.salary) AS total, COUNT(*) AS cnt
        FROM employees e
        WHERE e.dept_id = d.id
        ) AS stats""",
    ),
    Query(
        "dept_stats_all",
        "lateral",
        (861,),
        """SELECT d.id, d.name, stats.total
        FROM departments d
        LEFT JOIN LATERAL (
        SELECT SUM(e.salary) AS total
        FROM employees e
        WHERE e.dept_id = d.id
        ) AS stats ON true""",
    ),
)

WHERE_SUBQUERIES = (
    Query(
        "active_customers",
        "customers",
        (876,),
        """SELECT c.id, c.name
        FROM customers c
        WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id)""",
    ),
    Query(
        "inactive_customers",
        "customers",
        (885,),
        """SELECT c.id, c.name
        FROM customers c
        WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id)""",
    ),
    Query(
        "ordered_products",
        "products",
        (894,),
        """SELECT p.id, p.name
        FROM products p
        WHERE p.id IN (SELECT product_id FROM order_items)""",
    ),
    Query(
        "unordered_products",
        "products",
        (903,),
        """SELECT p.id, p.name
        FROM products p
        WHERE p.id NOT IN (SELECT product_id FROM order_items)""",
    ),
    Query(
        "products_with_max_price",
        "products",
        (912,),
        """SELECT p.id, p.name, (SELECT max(price) FROM products) AS max_price
        FROM products p""",
    ),
)
