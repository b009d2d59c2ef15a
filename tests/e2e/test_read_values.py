"""VALUES that reads columns: in LATERAL, in IN, ANY and ALL, and in scalar subqueries."""

from __future__ import annotations

from helpers import assert_all_stay_exact
from pgstream.client import PgStream

TABLES = """
CREATE TABLE a (id int PRIMARY KEY, x int, y int, t text, n numeric(8, 2));
CREATE TABLE b (x int, z int, u bigint);
INSERT INTO a VALUES (1, 1, 10, 'p', 1.5), (2, 2, 0, 'q', 2), (3, 2, 2, 'r', NULL),
    (4, NULL, 5, NULL, 0), (5, 3, NULL, 's', 7);
INSERT INTO b VALUES (1, 0, 1), (2, 2, 2), (5, 1, NULL), (NULL, NULL, 3), (2, 2, 2);
"""
QUERIES = (
    "SELECT a.id, v.c FROM a, LATERAL (VALUES (a.x)) v(c)",
    "SELECT a.id, v.k, v.c, v.d FROM a JOIN b ON a.x = b.x CROSS JOIN LATERAL"
    " (VALUES ('sum', a.y + b.z, upper(a.t)), ('n', a.n, NULL), ('one', 1, 'lit')) v(k, c, d)",
    "SELECT a.id, v.k, v.c FROM a LEFT JOIN LATERAL (VALUES ('x', a.x), ('y', a.y)) v(k, c)"
    " ON v.c > 4",
    "SELECT v.k, sum(v.c) AS s, count(*) AS m FROM a CROSS JOIN LATERAL"
    " (VALUES ('x', a.x), ('y', a.y)) v(k, c) GROUP BY v.k",
    "SELECT a.id, v.c, w.d FROM a CROSS JOIN LATERAL (VALUES (a.x), (a.y)) v(c)"
    " CROSS JOIN LATERAL (VALUES (v.c + 1), (a.id)) w(d) JOIN b ON b.x = w.d",
    "SELECT a.id, v.c FROM a LEFT JOIN LATERAL (VALUES (a.x), (a.y) ORDER BY 1 LIMIT 1) v(c)"
    " ON true",
    "SELECT a.id, v.c FROM a, LATERAL (VALUES (a.x) UNION VALUES (a.y), (2)) v(c)",
    "SELECT a.id, v.c FROM a,"
    " LATERAL (VALUES ((SELECT max(b.z) FROM b WHERE b.x = a.x)), (a.y)) v(c)",
    "SELECT a.id, w.c FROM a LEFT JOIN LATERAL (SELECT v.c FROM b JOIN LATERAL"
    " (VALUES (a.x + b.x), (b.z)) v(c) ON v.c > 0 WHERE b.x = a.x) w ON true",
    "SELECT id, (SELECT max(v.c) FROM (VALUES (a.x), (a.y)) v(c)) AS best,"
    " (SELECT count(*) FROM (VALUES (a.x), (a.y)) v(c) WHERE v.c > 1) AS above,"
    " (SELECT v.k FROM (VALUES ('x', a.x), ('y', a.y)) v(k, c) ORDER BY v.c DESC NULLS LAST, v.k"
    "  LIMIT 1) AS which, (VALUES (a.x)) AS one, ARRAY(VALUES (a.x), (a.y)) AS both_of FROM a",
    "SELECT a.id, (SELECT max(v.c) FROM (VALUES (a.x), (b.u)) v(c)) AS m"
    " FROM a JOIN b ON b.x = a.x WHERE (SELECT sum(v.c) FROM (VALUES (a.x), (a.y)) v(c)) > 3",
    "SELECT id FROM a WHERE x IN (VALUES (0), (a.y), (a.id))",
    "SELECT id FROM a WHERE n IN (VALUES (a.x), (7)) OR t = ANY (VALUES ('p'), (a.t || ''))",
    "SELECT id, x IN (VALUES (0), (a.y)) AS i, x NOT IN (VALUES (a.y), (NULL::int)) AS j,"
    " x >= ALL (VALUES (0), (a.y)) AS k, x < ANY (VALUES (0), (a.y)) AS l,"
    " (x, y) IN (VALUES (1, 10), (2, a.y)) AS m FROM a",
    "SELECT id FROM a WHERE EXISTS (VALUES (a.x)) AND NOT EXISTS"
    " (SELECT FROM (VALUES (a.x), (a.y)) v(c) WHERE v.c IS NULL)",
    "SELECT id FROM a WHERE id IN (SELECT b.x FROM b WHERE b.z IN (VALUES (a.x), (0)))",
)
CHANGES = (
    "UPDATE a SET x = x + 1, y = NULL WHERE id = 1;"
    " INSERT INTO a VALUES (6, 2, 2, 'p', 2.5), (7, NULL, NULL, 'n', 1);"
    " DELETE FROM a WHERE id = 3; UPDATE b SET z = 3 WHERE x = 1; INSERT INTO b VALUES (3, 7, 9)",
)


def test_values_of_the_rows_around_stay_exact(ps: PgStream) -> None:
    ps.execute(TABLES)
    assert_all_stay_exact(ps, QUERIES, CHANGES)
