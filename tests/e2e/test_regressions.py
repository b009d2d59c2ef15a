"""Queries after PostgreSQL's own regression tests that once had wrong answers."""

from __future__ import annotations

from helpers import assert_all_stay_exact, script, with_three_tables
from pgstream.client import PgStream

ONE_GROUP = (
    "SELECT a.id, s.x FROM a JOIN (SELECT 1 AS x FROM b GROUP BY ()) s ON a.k = s.x",
    "SELECT a.id, s.x FROM a FULL JOIN (SELECT 1 AS x FROM b GROUP BY (), ()) s ON a.k = s.x",
    "SELECT count(*) AS n FROM (SELECT FROM b HAVING true) s",
    "SELECT a.id, a.k NOT IN (SELECT 2 FROM b HAVING true) AS x FROM a",
    "SELECT a.id FROM a WHERE EXISTS (SELECT FROM b HAVING count(*) > 3)",
    "SELECT a.id FROM a, (SELECT FROM b UNION SELECT FROM c) q",
    "SELECT a.id FROM a, (SELECT FROM b EXCEPT SELECT FROM c) q",
    "WITH o AS (SELECT 1 AS x FROM b GROUP BY ()) SELECT p.x, q.x AS y FROM o p JOIN o q USING (x)",
    "SELECT 1 AS x FROM b GROUP BY ()",
)


def test_a_group_of_whatever_there_is(ps: PgStream) -> None:
    assert_all_stay_exact(
        with_three_tables(ps),
        ONE_GROUP,
        (
            "INSERT INTO b VALUES (7, 1), (1, 1); INSERT INTO a VALUES (9, 9)",
            "DELETE FROM b; DELETE FROM c",
            "INSERT INTO b VALUES (2, 1); DELETE FROM a WHERE id = 1",
        ),
    )


MERGED_COLUMNS = (
    "SELECT k, count(a.id) AS n, sum(v) AS s, GROUPING(k) AS g FROM a FULL JOIN b USING (k)"
    " GROUP BY GROUPING SETS ((k), ())",
    "SELECT k, id, v, z FROM a FULL JOIN b USING (k) FULL JOIN c USING (k)",
    "SELECT k, id, v, z FROM a RIGHT JOIN b USING (k) FULL JOIN c USING (k)",
    "SELECT k, id, v, z FROM a FULL JOIN b USING (k) JOIN c USING (k)",
    "SELECT k, id, v, z FROM b FULL JOIN c USING (k) RIGHT JOIN a USING (k)",
    "SELECT k, id, v, z FROM (a FULL JOIN b USING (k)) FULL JOIN"
    " (c FULL JOIN (SELECT v AS k FROM b) d USING (k)) USING (k)",
    "SELECT k, count(*) AS n FROM a NATURAL FULL JOIN b NATURAL FULL JOIN c GROUP BY ROLLUP (k)",
    "SELECT i, count(*) AS n FROM (SELECT id * interval '15 days' AS i FROM a) p"
    " FULL JOIN (SELECT v * interval '1 mon' AS i FROM b) q USING (i) GROUP BY i",
)


def test_columns_that_using_merges(ps: PgStream) -> None:
    assert_all_stay_exact(
        with_three_tables(ps),
        MERGED_COLUMNS,
        (
            "INSERT INTO c VALUES (3, 1), (9, 9); DELETE FROM a WHERE k = 1; UPDATE b SET k = k + 1",
            "DELETE FROM b WHERE k > 2; INSERT INTO a VALUES (6, 9), (7, NULL)",
            "DELETE FROM a",
        ),
    )


GROUPED_BY_SUBQUERIES = (
    "SELECT k, (SELECT max(v) FROM b) AS m, GROUPING(k) AS g, count(*) AS n FROM a"
    " GROUP BY GROUPING SETS (k, m)",
    "SELECT (SELECT max(v) FROM b WHERE b.k = a.k) AS m, count(*) AS n FROM a GROUP BY m",
    "SELECT GROUPING((SELECT max(v) FROM b WHERE b.k = a.k), k) AS g, k, count(*) AS n,"
    " (SELECT max(v) FROM b WHERE b.k = a.k) AS m FROM a GROUP BY ROLLUP (m, k)",
    "SELECT (SELECT max(v) FROM b WHERE b.k = a.k) + 1 AS m, sum(id) AS s,"
    " EXISTS (SELECT FROM b WHERE b.k = a.k) AS e FROM a GROUP BY m, e"
    " HAVING (SELECT max(v) FROM b WHERE b.k = a.k) + 1 IS NULL OR count(*) > 0",
)


def test_groups_of_subqueries(ps: PgStream) -> None:
    assert_all_stay_exact(
        with_three_tables(ps),
        GROUPED_BY_SUBQUERIES,
        (
            "INSERT INTO b VALUES (7, 1), (1, 90); DELETE FROM a WHERE id = 3",
            "UPDATE b SET v = 3; INSERT INTO a VALUES (8, 3)",
            "DELETE FROM b",
        ),
    )
