"""Variances and standard deviations, finished from sums, have PostgreSQL's digits."""

from __future__ import annotations

from pgstream.algebra.operators.accumulate import moment_sql
from pgstream.algebra.operators.aggregate import MOMENTS

GROUPS = """
SELECT setseed(0.25);
CREATE TEMPORARY TABLE groups AS
SELECT g, kind, CASE kind
    WHEN 0 THEN trunc((random() - 0.5) * 10 ^ (g % 10))::numeric
    WHEN 1 THEN round(((random() - 0.5) * 10 ^ (g % 9))::numeric, g % 7)
    WHEN 2 THEN round(((random() - 0.5) * 10 ^ (g % 30))::numeric, g % 20)
    WHEN 3 THEN round(random()::numeric * 10.0 ^ -(g % 12)::numeric, g % 38)
    WHEN 4 THEN trunc((random() - 0.5)::numeric * 18446744073709551616)
    ELSE round((random() * 3)::numeric, 1) END AS x
FROM generate_series(1, 900) g, generate_series(0, 5) kind, generate_series(1, 1 + g % 9)
"""


def test_moments_have_postgresqls_digits(database):
    connection = database.connect()
    connection.execute(GROUPS)
    names = sorted(MOMENTS)
    wanted = ", ".join(f"{name}(x) AS w{i}" for i, name in enumerate(names))
    differ = " OR ".join(
        f"{moment_sql(name, 'c', 't', 'p')}::text IS DISTINCT FROM w{i}::text"
        for i, name in enumerate(names)
    )
    sums = "count(x) AS c, sum(x) AS t, sum(x * x) AS p"
    count, wrong = connection.execute(
        f"SELECT count(*), count(*) FILTER (WHERE {differ})"
        f" FROM (SELECT {sums}, {wanted} FROM groups GROUP BY g, kind) q"
    ).fetchone()
    assert (count, wrong) == (5400, 0)
