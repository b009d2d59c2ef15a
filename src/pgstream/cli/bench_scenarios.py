"""The specification's benchmark: five queries on src and dim, 70 % UPDATE, 15 % DELETE, 15 %
INSERT per cycle."""

from __future__ import annotations

SCENARIOS = {
    "scan": "SELECT id, region, category, amount, score FROM src",
    "filter": "SELECT id, region, amount FROM src WHERE amount > 5000",
    "aggregate": "SELECT region, SUM(amount) AS total, COUNT(*) AS cnt FROM src GROUP BY region",
    "join": "SELECT s.id, s.region, s.amount, d.region_name"
    " FROM src s JOIN dim d ON s.region = d.region",
    "join_agg": "SELECT d.region_name, SUM(s.amount) AS total, COUNT(*) AS cnt"
    " FROM src s JOIN dim d ON s.region = d.region GROUP BY d.region_name",
}

TABLES = """
DROP TABLE IF EXISTS src, dim;
CREATE TABLE src (
    id       bigserial PRIMARY KEY,
    region   text NOT NULL,
    category text NOT NULL,
    amount   numeric(12,2) NOT NULL,
    score    int NOT NULL
);
CREATE TABLE dim (region text PRIMARY KEY, region_name text NOT NULL);
INSERT INTO dim
SELECT r, initcap(r) || ' Region' FROM unnest('{north,south,east,west,central}'::text[]) r;
SELECT setseed(0.42);
"""

POPULATE = """
INSERT INTO src (region, category, amount, score)
SELECT ('{north,south,east,west,central}'::text[])[1 + i %% 5],
       ('{electronics,clothing,food,books,tools,toys}'::text[])[1 + i %% 6],
       round((random() * 10000)::numeric, 2), (random() * 100)::int
FROM generate_series(1, %s) i
"""

# Three times as many candidates as wanted: some ids are gone already.
UPDATE = """
UPDATE src SET amount = amount + 1 WHERE id IN (
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
    """How many rows a cycle updates, deletes and inserts."""
    deleted = inserted = round(changes * 0.15)
    return changes - deleted - inserted, deleted, inserted
