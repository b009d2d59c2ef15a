"""Queries after PostgreSQL's own regression tests that once had wrong answers."""

from __future__ import annotations

import pytest

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
            "INSERT INTO c VALUES (3, 1), (9, 9); DELETE FROM a WHERE k = 1",
            "UPDATE b SET k = k + 1",
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
    "SELECT id, (SELECT min(c.z) FROM c WHERE c.k = (SELECT min(b.v) FROM b WHERE b.k = a.k)) AS m"
    " FROM a",
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


KEEPS_ORDER = (
    "SELECT k, array_agg(id) AS a, string_agg(g, ',') FILTER (WHERE x > 3) AS s"
    " FROM (SELECT id, k, g, x FROM t ORDER BY y DESC, id) q GROUP BY k",
    "SELECT array_agg(i) AS a, jsonb_agg(g) AS j FROM (SELECT id + 1 AS i, g FROM"
    " (SELECT id, g, x FROM t ORDER BY g NULLS FIRST, y, id DESC LIMIT 6) p WHERE x > 2) q",
    "WITH c(p, q) AS (SELECT id, k FROM t ORDER BY y DESC, id)"
    " SELECT z, array_agg(w) AS a FROM c AS d(w, z) GROUP BY ROLLUP (z)",
    "SELECT array_agg(id) AS a FROM by_y",
    "SELECT id, row_number() OVER () AS r, lag(id) OVER () AS l, last_value(id) OVER () AS v,"
    " sum(x) OVER () AS s, count(x) OVER (ROWS 2 PRECEDING) AS c FROM by_y",
    "SELECT id FROM (SELECT id FROM t ORDER BY y DESC, id) q WHERE id > 1 LIMIT 3",
    "SELECT t.id, (SELECT q.id FROM (SELECT u.id FROM t u WHERE u.k = t.k"
    " ORDER BY u.y, u.id DESC) q LIMIT 1) AS f FROM t",
    "SELECT t.id, array_agg(e) AS a FROM t, unnest(ARRAY[t.g, 'z', 'b']) e GROUP BY t.id",
    "SELECT id, (SELECT string_agg(w, ' ') FROM regexp_split_to_table(t.g || ' z b', ' ') w) AS a"
    " FROM t",
    "SELECT array_agg(v.x) AS a, count(*) AS n FROM (VALUES (3), (1), (2)) v(x)",
    "WITH v(x, y) AS (VALUES (3, 'c'), (1, 'a')) SELECT v.y, t.id FROM v JOIN t ON t.id = v.x",
)


@pytest.mark.smoke("sql", "compile", "algebra")
def test_the_order_of_rows_is_kept(ps: PgStream) -> None:
    script(
        ps,
        "CREATE TABLE t (id int PRIMARY KEY, k int, g text, x int, y int)",
        "INSERT INTO t SELECT i, i % 3, chr(97 + i % 4), i * 5 % 7, nullif(i * 3 % 8, 4)"
        " FROM generate_series(1, 12) i",
        "CREATE VIEW by_y AS SELECT id, x FROM t ORDER BY y DESC, id",
    )
    assert_all_stay_exact(
        ps,
        KEEPS_ORDER,
        (
            "UPDATE t SET y = 100 - y WHERE id % 4 = 0; DELETE FROM t WHERE id = 3",
            "INSERT INTO t VALUES (13, 1, NULL, 2, -1), (14, 2, 'z', 4, NULL)",
        ),
    )


COMPOSITE_KEYS = (
    "SELECT k, count(*) AS n FROM p GROUP BY ROLLUP (k)",
    "SELECT id, k IS NULL AS a, k IS DISTINCT FROM NULL AS b, NOT k IS NOT DISTINCT FROM NULL AS c"
    " FROM p",
    "SELECT k, p.id, q.id AS other FROM p FULL JOIN q USING (k)",
    "SELECT id FROM p WHERE k NOT IN (SELECT k FROM q WHERE k IS DISTINCT FROM NULL)",
    "SELECT DISTINCT ks, m FROM p",
    "SELECT id, (d).k.a AS a, (d).k AS k, (d).k IS NULL AS n, d IS NOT NULL AS f FROM p",
)


def test_rows_and_enums_are_keys(ps: PgStream) -> None:
    script(
        ps,
        "CREATE TYPE pair AS (a int, b text); CREATE TYPE mood AS ENUM ('sad', 'ok')",
        "CREATE TYPE deep AS (k pair, n int); CREATE TABLE q (id int, k pair)",
        "CREATE TABLE p (id int, k pair, ks pair[], m mood, d deep)",
        "INSERT INTO p VALUES (1, ROW(1, 'a'), ARRAY[ROW(1, 'a')]::pair[], 'sad'),"
        " (2, ROW(1, 'a'), ARRAY[ROW(1, 'a')]::pair[], 'sad'), (3, ROW(NULL, NULL), '{}', 'ok'),"
        " (4, NULL, NULL, NULL)",
        "UPDATE p SET d = ROW(k, id) WHERE id > 1",
        "INSERT INTO q SELECT id + 2, k FROM p",
    )
    assert_all_stay_exact(
        ps,
        COMPOSITE_KEYS,
        (
            "INSERT INTO q VALUES (9, ROW(2, 'b,\" '))",
            "UPDATE p SET k = ROW(2, 'b,\" ') WHERE id = 2",
            "DELETE FROM q WHERE id < 4; UPDATE p SET ks = NULL, m = 'ok'",
        ),
    )


KEPT_FROM_FAILING = (
    "SELECT b.id, 10.0 / a.x AS v FROM t b JOIN t a ON a.id = b.id AND a.x <> 0",
    "SELECT b.id, a.y::int AS v FROM t b JOIN t a ON a.id = b.id AND a.x = 1 WHERE a.y::int > 5",
    "SELECT b.id, a.y::int AS v FROM (t b JOIN t a ON a.id = b.id AND a.x = 1)"
    " LEFT JOIN t c ON c.id = a.g AND c.x <> 1",
    "SELECT b.id, q.v FROM t b LEFT JOIN (SELECT a.g, a.y::int AS v FROM t a JOIN t c"
    " ON c.id = a.id AND a.x = 1) q ON q.g = b.g",
    "SELECT a.g, max(a.y::int) AS v FROM t b JOIN t a ON a.id = b.id AND a.x = 1 GROUP BY a.g",
)


def test_the_on_of_an_inner_join_keeps_an_expression_from_failing(ps: PgStream) -> None:
    """As WHERE does: PostgreSQL asks both before it computes the SELECT list."""
    script(
        ps,
        "CREATE TABLE t (id int PRIMARY KEY, g int, x int, y text)",
        "INSERT INTO t SELECT i, i % 7, i % 3, CASE i % 3 WHEN 1 THEN i::text ELSE 'no' END"
        " FROM generate_series(1, 50) i",
    )
    assert_all_stay_exact(
        ps,
        KEPT_FROM_FAILING,
        (
            "INSERT INTO t VALUES (100, 1, 0, 'no'), (101, 1, 1, '77')",
            "DELETE FROM t WHERE id < 9; UPDATE t SET x = 0 WHERE id = 13",
        ),
    )
