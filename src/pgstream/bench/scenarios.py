"""The scenarios of `bench plans`: a table src of rows in groups of a hundred, and dim, its groups.

Each fiftieth group of src is not in dim.
"""

from __future__ import annotations

SCENARIOS = {
    "scan": "SELECT id, k, category, amount FROM src",
    "aggregate": "SELECT category, sum(amount) AS total, count(*) AS n FROM src GROUP BY category",
    "join": "SELECT s.id, s.amount, d.label FROM src s JOIN dim d ON d.k = s.k",
    "join_agg": "SELECT d.area, sum(s.amount) AS total, count(*) AS n"
    " FROM src s JOIN dim d ON d.k = s.k GROUP BY d.area",
    "left_join": "SELECT s.id, s.amount, d.label FROM src s LEFT JOIN dim d ON d.k = s.k",
    "nested_agg": "SELECT s.id, s.k, s.amount FROM src s"
    " JOIN (SELECT k, avg(amount) AS mean FROM src GROUP BY k) m ON m.k = s.k"
    " WHERE s.amount > 1.9 * m.mean",
    "window": "SELECT id, k, rank() OVER (PARTITION BY k ORDER BY amount DESC) AS place FROM src",
    "exists": "SELECT d.k, d.label FROM dim d"
    " WHERE EXISTS (SELECT 1 FROM src s WHERE s.k = d.k AND s.amount > 9950)",
}

TABLES = """
CREATE TABLE src (
    id bigserial PRIMARY KEY, k int NOT NULL, category int NOT NULL, amount numeric(12,2) NOT NULL);
CREATE TABLE dim (k int PRIMARY KEY, label text NOT NULL, area int NOT NULL);
CREATE INDEX ON src (k);
SELECT setseed(0.42);
"""
DIMENSION = """
INSERT INTO dim SELECT k, 'label ' || k, k %% 20 FROM generate_series(1, %(groups)s) k
"""
INSERT = """
INSERT INTO src (k, category, amount)
SELECT 1 + i %% (%(groups)s + %(groups)s / 50), i %% 20, round((random() * 10000)::numeric, 2)
FROM (SELECT (random() * 1000000)::int + i AS i FROM generate_series(1, %(n)s) i) numbers
"""
# The first row of a group without a large one becomes large, or one that became so small again: the
# result of every scenario changes.
FLIP = """
UPDATE src SET amount = CASE WHEN amount > 11000 THEN 0 ELSE 12000 END
    + round((random() * 49)::numeric, 2)
WHERE id = (SELECT coalesce(min(id) FILTER (WHERE amount > 9950), min(id)) FROM src
            WHERE k <= %(groups)s GROUP BY k HAVING max(amount) <= 9950
               OR max(amount) > 11000 AND count(*) FILTER (WHERE amount > 9950) = 1
            ORDER BY random() LIMIT 1)
"""
# More candidates than wanted: some ids are gone.
UPDATE = """
UPDATE src SET amount = round((random() * 10000)::numeric, 2) WHERE id IN (
    SELECT id FROM (SELECT DISTINCT 1 + floor(random() * %(top)s)::bigint AS id
                    FROM generate_series(1, %(n)s * 3)) picked
    JOIN src USING (id) LIMIT %(n)s)
"""
DELETE = """
DELETE FROM src WHERE id IN (
    SELECT id FROM (SELECT DISTINCT 1 + floor(random() * %(top)s)::bigint AS id
                    FROM generate_series(1, %(n)s * 3)) picked
    JOIN src USING (id) LIMIT %(n)s)
"""


def shares(changes: int) -> tuple[int, int, int]:
    """How many rows beside the first a change updates, deletes and inserts: 70, 15, 15 percent."""
    deleted = inserted = round(changes * 0.15)
    return changes - 1 - deleted - inserted, deleted, inserted
