"""EXISTS, IN and scalar subqueries through every kind of change, with SQL's NULL semantics."""

from __future__ import annotations

import pytest

from helpers import (
    assert_all_stay_exact,
    assert_stays_exact,
    create_exact,
    refresh_exact,
    with_three_tables,
)
from pgstream.client import PgStream

QUERIES = {
    "exists": "SELECT id, k FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k)",
    "not exists": "SELECT id FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.v > 2)",
    "in": "SELECT id FROM a WHERE k IN (SELECT v FROM b)",
    "not in": "SELECT id FROM a WHERE k NOT IN (SELECT v FROM b)",
    "not in, correlated": "SELECT id FROM a WHERE k NOT IN (SELECT v FROM b WHERE b.k = a.id)",
    "in as a value": "SELECT id, k IN (SELECT v FROM b) AS r FROM a",
    "under or": "SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k)"
    " OR id IN (SELECT z FROM c)",
    "rows": "SELECT id FROM a WHERE (id, k) IN (SELECT v, k FROM b)",
    "scalar": "SELECT id, (SELECT max(v) FROM b) AS m FROM a",
    "scalars, correlated": "SELECT id, (SELECT count(*) FROM b WHERE b.k = a.k) AS n,"
    " (SELECT coalesce(sum(v), 0) + count(v) FROM b WHERE b.k = a.k) AS s FROM a",
    "compared": "SELECT id FROM a WHERE id > (SELECT avg(v) FROM b WHERE b.k = a.k)",
    "uncorrelated": "SELECT id FROM a WHERE NOT EXISTS (SELECT FROM b WHERE v > 4)",
    "inside an aggregate": "SELECT k, sum(CASE WHEN EXISTS"
    " (SELECT 1 FROM b WHERE b.k = a.k) THEN 1 ELSE 0 END) AS s FROM a GROUP BY k",
    "of a set operation": "SELECT k, count(*) AS n FROM a"
    " WHERE k IN (SELECT k FROM b INTERSECT SELECT k FROM c) GROUP BY k",
    "of groups": "SELECT id FROM a WHERE k IN (SELECT k FROM b GROUP BY k HAVING count(*) > 1)",
    "not of groups": "SELECT id FROM a WHERE k NOT IN (SELECT max(v) FROM b GROUP BY k)",
    "rows of groups": "SELECT id FROM a WHERE (id, k) IN (SELECT max(v), k FROM b GROUP BY k)",
    "of the first": "SELECT id, k IN (SELECT v FROM b ORDER BY v, k LIMIT 2) AS r FROM a",
    "exists a group": "SELECT id FROM a"
    " WHERE EXISTS (SELECT FROM b GROUP BY k HAVING count(*) > 1)",
    "nested": "SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k"
    " AND EXISTS (SELECT 1 FROM c WHERE c.z = b.v))",
    "computed key": "SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k + 1)",
}
BY_KEYS = (
    "SELECT id FROM a WHERE EXISTS (SELECT FROM b WHERE b.k = a.k AND b.v <> a.id)"
    " AND NOT EXISTS (SELECT FROM b WHERE b.k = a.k AND b.v + 1 > a.id * 3 AND a.id > 1)",
    "SELECT x.id, x.k FROM a x WHERE NOT EXISTS (SELECT FROM a y WHERE y.k = x.k AND y.id <> x.id)",
    "SELECT a.id, b.v FROM a LEFT JOIN b ON b.k = a.k"
    " WHERE NOT EXISTS (SELECT FROM c WHERE c.z = b.v AND c.k IS DISTINCT FROM a.k)",
    "SELECT k, count(*) AS n FROM a WHERE id IN (SELECT v FROM b WHERE b.k >= a.k) GROUP BY k",
    "SELECT id FROM a WHERE id IN (SELECT v FROM b WHERE b.k = a.k AND b.v < a.id + 2)",
    "SELECT id, b.v FROM a JOIN b ON b.k = a.k WHERE a.id + b.v NOT IN (SELECT z FROM c)"
    " AND EXISTS (SELECT FROM c WHERE c.k = b.v - a.id + 1 AND c.z > a.id)",
    "SELECT id FROM a WHERE (id, k) IN (SELECT v, k FROM b) AND k NOT IN (SELECT z FROM c)",
    "SELECT id FROM a WHERE k NOT IN (SELECT v FROM b WHERE v IS NOT NULL) OR id = 2",
    "SELECT id, EXISTS (SELECT FROM b WHERE b.k = a.k AND b.v > a.id) AS e,"
    " id IN (SELECT v FROM b WHERE b.k = a.k AND b.v > a.k) AS i FROM a",
    "SELECT id FROM a WHERE EXISTS (SELECT FROM b WHERE b.k = a.k GROUP BY v HAVING count(*) > 1)",
    "SELECT id FROM a WHERE NOT EXISTS (SELECT max(v) FROM b WHERE b.k = a.k GROUP BY v % 2"
    " HAVING sum(v) > 2)",
    "SELECT id FROM a WHERE NOT EXISTS (SELECT count(*) FROM b WHERE b.k = a.k"
    " HAVING count(*) > 1)",
    "SELECT id FROM a WHERE k IN (SELECT max(v) FROM b WHERE b.k = a.id GROUP BY k)",
    "SELECT id, k NOT IN (SELECT min(v) FROM b WHERE b.k = a.k GROUP BY v % 2) AS r FROM a",
    "SELECT id FROM a WHERE k NOT IN (SELECT count(*) FROM b WHERE b.k = a.k)",
    "SELECT id, (SELECT max(s) FROM (SELECT sum(v) AS s FROM b WHERE b.k = a.k GROUP BY v % 2) q)"
    " AS m, (SELECT count(*) FROM (SELECT DISTINCT v FROM b WHERE b.k = a.k) q) AS n FROM a",
    "SELECT id, (SELECT count(*) FROM c JOIN (SELECT k, v FROM b WHERE b.k = a.k) q ON q.v = c.z"
    " LEFT JOIN b d ON d.k = c.k) AS n FROM a",
    "SELECT id FROM a WHERE k > ALL (SELECT v FROM b WHERE b.k = a.id)"
    " AND k < ANY (SELECT sum(v) FROM b WHERE b.k = a.k GROUP BY v)",
    "SELECT id, k > ALL (SELECT v FROM b WHERE b.k = a.id) AS r FROM a"
    " WHERE k <> ALL (SELECT z FROM c) OR id = 3",
    "SELECT id FROM a WHERE EXISTS (SELECT FROM b JOIN c USING (k) WHERE k = a.k AND v <> a.id)",
)
CHANGES = (
    "INSERT INTO b VALUES (NULL, NULL), (4, 1); DELETE FROM a WHERE id = 1",
    "DELETE FROM b WHERE v IS NULL; UPDATE a SET k = 4 WHERE id = 2; UPDATE c SET z = 1",
    "DELETE FROM b; DELETE FROM c WHERE k = 1",
    "INSERT INTO b SELECT i % 4, i % 3 FROM generate_series(1, 6) i; UPDATE a SET k = NULL"
    " WHERE id = 3",
    "DELETE FROM a; INSERT INTO a VALUES (1, 1), (2, NULL), (2, NULL), (3, 3)",
)


@pytest.fixture
def tables(ps: PgStream) -> PgStream:
    return with_three_tables(ps)


@pytest.mark.parametrize("name", QUERIES)
def test_subqueries_stay_exact(tables: PgStream, name: str) -> None:
    assert_stays_exact(tables, QUERIES[name], *CHANGES)


def test_tests_by_keys_stay_exact(tables: PgStream) -> None:
    assert_all_stay_exact(tables, BY_KEYS, CHANGES)


WITH_CTES = (
    "SELECT id, (WITH q AS (SELECT b.v FROM b WHERE b.k = a.k) SELECT max(v) FROM q) AS m FROM a",
    "SELECT id FROM a WHERE EXISTS (WITH q AS (SELECT b.k, b.v FROM b WHERE b.k = a.k),"
    " r AS (SELECT q.v FROM q JOIN c ON c.k = q.k) SELECT FROM r JOIN q ON q.v >= r.v)",
    "SELECT id, id NOT IN (WITH q(z) AS (SELECT c.z FROM c WHERE c.k = a.k) SELECT z FROM q"
    " UNION ALL SELECT z + 1 FROM q) AS r FROM a",
    "SELECT a.id, l.n, l.s FROM a LEFT JOIN LATERAL (WITH q AS (SELECT b.v FROM b WHERE b.k = a.k)"
    " SELECT count(*) AS n, (WITH r AS (SELECT q.v + a.id AS w FROM q) SELECT sum(w) FROM r) AS s"
    " FROM q) l ON l.n > 0",
)


def test_ctes_of_correlated_subqueries_stay_exact(tables: PgStream) -> None:
    assert_all_stay_exact(tables, WITH_CTES, CHANGES[1:4])


@pytest.mark.usual_way
def test_groups_without_correlation_are_read_by_key(tables: PgStream) -> None:
    """Not each value against each group: that was the whole of both."""
    tables.execute("INSERT INTO a SELECT i, i FROM generate_series(100, 2000) i")
    tables.execute("INSERT INTO b SELECT i, i FROM generate_series(100, 2000) i")
    create_exact(tables, "st", QUERIES["of groups"])
    tables.execute("INSERT INTO b VALUES (500, 1)")
    assert refresh_exact(tables, "st").rows_read <= 10


@pytest.mark.usual_way
def test_a_change_reads_only_its_keys(tables: PgStream) -> None:
    tables.execute("INSERT INTO a SELECT i, i FROM generate_series(100, 2000) i")
    tables.execute("INSERT INTO b SELECT i, i FROM generate_series(100, 2000) i")
    create_exact(tables, "st", QUERIES["exists"])
    tables.execute("DELETE FROM b WHERE k = 500; UPDATE a SET k = 501 WHERE id = 502")
    assert refresh_exact(tables, "st").rows_read <= 20
