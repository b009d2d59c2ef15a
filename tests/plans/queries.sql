Ours: one for each way in which a tree is made cheaper, and for what costs most.

-- left_join
SELECT o.id, o.amount, r.reason FROM orders o LEFT JOIN returns r ON r.order_id = o.id

-- full_join
SELECT o.id, r.order_id, r.reason FROM orders o FULL JOIN returns r ON r.order_id = o.id

-- exists
SELECT o.id FROM orders o WHERE EXISTS (SELECT 1 FROM returns r WHERE r.order_id = o.id)

-- not_exists
SELECT o.id FROM orders o WHERE NOT EXISTS (SELECT 1 FROM returns r WHERE r.order_id = o.id)

-- exists_beside_not_exists
SELECT o.id, c.name FROM orders o JOIN customers c ON c.id = o.customer
WHERE EXISTS (SELECT 1 FROM returns r WHERE r.order_id = o.id AND r.amount > o.amount)
  AND NOT EXISTS (SELECT 1 FROM returns r WHERE r.order_id = o.id AND r.reason = c.region)

-- in_groups
SELECT o.id, o.amount FROM orders o
WHERE o.customer IN (SELECT customer FROM orders GROUP BY customer HAVING sum(amount) > 300)

-- nested_aggregate
SELECT o.id, o.amount FROM orders o
JOIN (SELECT customer, avg(amount) AS mean FROM orders GROUP BY customer) m
  ON m.customer = o.customer
WHERE o.amount > 1.9 * m.mean

-- scalar_threshold
SELECT id, amount FROM orders WHERE amount > (SELECT avg(amount) FROM orders)

-- first_of_group
SELECT * FROM (SELECT id, customer, amount, row_number() OVER (PARTITION BY customer ORDER BY amount DESC, id) AS n
               FROM orders) ranked
WHERE n <= 3

-- equality_in_or
SELECT o.id, c.name FROM orders o, customers c
WHERE (o.customer = c.id AND c.region = 'north' AND o.amount > 10)
   OR (o.customer = c.id AND c.region = 'south' AND o.amount > 20)

-- filter_above_groups
SELECT * FROM (SELECT customer, sum(amount) AS total FROM orders GROUP BY customer) g WHERE customer = 7

-- filter_above_union
SELECT * FROM (SELECT id, amount FROM orders UNION ALL SELECT order_id, amount FROM returns) u
WHERE amount > 100

-- filter_above_window
SELECT * FROM (SELECT customer, id, rank() OVER (PARTITION BY customer ORDER BY amount) AS r FROM orders) w
WHERE customer = 7 AND r < 3

-- outer_join_that_is_inner
SELECT o.id, r.reason FROM orders o LEFT JOIN returns r ON r.order_id = o.id WHERE r.amount > 5

-- distinct_by_key
SELECT DISTINCT o.id, o.amount, c.name FROM orders o JOIN customers c ON c.id = o.customer

-- groups_by_key
SELECT g.id, g.total, c.region
FROM (SELECT id, customer, sum(amount) AS total FROM orders GROUP BY id, customer) g
JOIN customers c ON c.id = g.customer

-- distinct_by_nullable
SELECT DISTINCT label, price FROM products

-- different_products
SELECT customer, count(DISTINCT product) AS products, count(*) AS orders FROM orders GROUP BY customer

-- unused_join
SELECT o.id, o.amount FROM orders o LEFT JOIN products p ON p.id = o.product

-- unused_columns
SELECT t.region, count(*) FROM (
    SELECT o.id, o.note, o.placed, c.region, c.name FROM orders o JOIN customers c ON c.id = o.customer
) t GROUP BY t.region

-- constant_through_equality
SELECT o.id, c.name FROM orders o JOIN customers c ON c.id = o.customer WHERE c.id = 7

-- same_constant
SELECT o.id, p.label FROM orders o, products p WHERE o.product = 7 AND p.id = 7

-- equal_to_the_same
SELECT o.id, c.name FROM orders o, customers c
WHERE EXISTS (SELECT 1 FROM returns r WHERE r.order_id = o.id AND r.order_id = c.id)

-- shared_twice
WITH big AS (SELECT customer, sum(amount) AS total FROM orders GROUP BY customer)
SELECT a.customer, b.customer AS other FROM big a JOIN big b ON b.total = a.total AND a.customer < b.customer

-- tree_of_customers
WITH RECURSIVE below AS (
    SELECT id, parent, 1 AS depth FROM customers WHERE parent IS NULL
    UNION ALL SELECT c.id, c.parent, b.depth + 1 FROM customers c JOIN below b ON c.parent = b.id
)
SELECT b.id, b.depth, sum(o.amount) AS total FROM below b JOIN orders o ON o.customer = b.id GROUP BY b.id, b.depth
