"""Functions of the user's: default, named, mixed and VARIADIC arguments, in any place."""

from __future__ import annotations

from helpers import assert_all_stay_exact
from pgstream.client import PgStream

TABLES = """
CREATE TABLE a (id int PRIMARY KEY, g int, x int, y int, t text);
CREATE TABLE b (x int, z int, t text);
INSERT INTO a VALUES (1, 1, 1, 10, 'p'), (2, 1, 2, 0, 'q'), (3, 2, 2, 2, 'r'),
    (4, 2, NULL, 5, NULL), (5, 2, 3, NULL, 's');
INSERT INTO b VALUES (1, 0, 'p'), (2, 2, 'q'), (5, 1, 'r'), (NULL, NULL, NULL);
CREATE SCHEMA "My Calls";
CREATE FUNCTION f(a int, b int DEFAULT 2, "C c" int DEFAULT 3) RETURNS int IMMUTABLE LANGUAGE sql
    AS 'SELECT a + 10 * b + 100 * "C c"';
CREATE FUNCTION "My Calls".rank(a int, b int DEFAULT 2) RETURNS int IMMUTABLE LANGUAGE sql
    AS 'SELECT a - b';
CREATE FUNCTION total(VARIADIC a int[]) RETURNS bigint IMMUTABLE LANGUAGE sql
    AS 'SELECT sum(v) FROM unnest(a) v';
CREATE FUNCTION rows_of(a int, b int DEFAULT 2) RETURNS TABLE (p int, q int) IMMUTABLE
    LANGUAGE sql AS 'SELECT i, a FROM generate_series(1, b) i';
CREATE FUNCTION nth_def(val anyelement, n int = 1) RETURNS anyelement
    LANGUAGE internal WINDOW IMMUTABLE STRICT AS 'window_nth_value';
CREATE FUNCTION "My Calls"."Nth"(val anyelement, "N" int = 1) RETURNS anyelement
    LANGUAGE internal WINDOW IMMUTABLE STRICT AS 'window_nth_value';
CREATE FUNCTION "My Calls".dense_rank() RETURNS bigint
    LANGUAGE internal WINDOW IMMUTABLE AS 'window_row_number';
"""
QUERIES = (
    'SELECT a.id, f(a.x) AS c0, f(a.x, "C c" => a.y) AS c1, f(b => a.y, a => a.x) AS c2,'
    ' total(a.x, a.y) AS c3, total(VARIADIC ARRAY[a.x, a.y]) AS c4, "My Calls".rank(a.x) AS c5,'
    " make_interval(days => a.x, hours => a.y) AS c6 FROM a WHERE f(b => x, a => y) > 3",
    'SELECT a.id, f(a => a.x, "C c" => b.z) AS c0, f(a.x, b => b.z) AS c1,'
    ' total(VARIADIC ARRAY[a.x, b.z]) AS c2, "My Calls".rank(b => a.y, a => b.z) AS c3,'
    " make_interval(days => a.x, hours => b.z) AS c4,"
    " CASE WHEN f(b => a.x, a => b.z) > 20 THEN upper(b.t) ELSE a.t END AS c5"
    " FROM a JOIN b ON a.x = b.x WHERE f(b => a.x, a => b.z) > 3",
    "SELECT a.id, r.p, r.q FROM a LEFT JOIN LATERAL rows_of(b => a.g, a => a.x) r ON true",
    "SELECT g, sum(f(b => y, a => x)) AS s, array_agg(f(y, b => x) ORDER BY id) AS l,"
    ' f(a => g, "C c" => count(*)::int) AS m FROM a GROUP BY g',
    "SELECT x, (SELECT max(f(a => b.z, b => a.y)) FROM b WHERE b.x = a.x) AS m FROM a",
    "SELECT id, nth_def(x) OVER w AS c0, nth_def(n => 2, val => x) OVER w AS c1,"
    ' nth_def(t, n => 2) OVER w AS c2, "My Calls"."Nth"(x, "N" => g) OVER w AS c3,'
    ' "My Calls".dense_rank() OVER w AS c4, sum(f(y, "C c" => 2)) OVER w AS c5'
    " FROM a WINDOW w AS (PARTITION BY g ORDER BY id)",
    "SELECT g, nth_def(sum(x), n => 2) OVER (ORDER BY g) AS c FROM a GROUP BY g",
)
CHANGES = (
    "UPDATE a SET y = 3, g = 2 WHERE id = 2; INSERT INTO a VALUES (6, 1, 1, 1, 'v');"
    " DELETE FROM a WHERE id = 1; UPDATE b SET z = 5 WHERE x = 2",
)


def test_calls_in_every_notation_stay_exact(ps: PgStream) -> None:
    ps.execute(TABLES)
    assert_all_stay_exact(ps, QUERIES, CHANGES)
