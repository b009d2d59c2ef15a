"""Aggregates of the user's: PostgreSQL computes them over the rows of the touched groups."""

from __future__ import annotations

from helpers import assert_all_stay_exact, script, with_three_tables
from pgstream.client import PgStream

AGGREGATES = """
CREATE SCHEMA "My sums";
CREATE AGGREGATE "My sums"."Total"(int) (sfunc = int4pl, stype = int, initcond = '0');
CREATE FUNCTION weigh(numeric, int, int) RETURNS numeric LANGUAGE sql IMMUTABLE
    AS 'SELECT coalesce($1, 0) + coalesce($2, 1) * coalesce($3, 0)';
CREATE AGGREGATE weighed(int, int) (sfunc = weigh, stype = numeric);
CREATE FUNCTION path(text, anyelement) RETURNS text LANGUAGE sql IMMUTABLE
    AS 'SELECT $1 || ''/'' || coalesce($2::text, ''-'')';
CREATE AGGREGATE path(anyelement) (sfunc = path, stype = text, initcond = '');
ALTER AGGREGATE path(anyelement) RENAME TO path_of;
CREATE FUNCTION one_more(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT $1 + 1';
CREATE AGGREGATE rows_of(*) (sfunc = one_more, stype = bigint, initcond = '0');
CREATE FUNCTION at(int[], int) RETURNS int LANGUAGE sql IMMUTABLE
    AS 'SELECT (array_agg(x ORDER BY x))[$2] FROM unnest($1) x';
CREATE AGGREGATE nth(int ORDER BY int) (sfunc = array_append, stype = int[], finalfunc = at);
"""
QUERIES = (
    'SELECT k, "My sums"."Total"(id) AS s, weighed(id, k) AS w, path_of(id ORDER BY id DESC) AS p,'
    " path_of(DISTINCT id) FILTER (WHERE id > 1) AS d, rows_of(*) AS n,"
    " nth(2) WITHIN GROUP (ORDER BY id) AS o FROM a GROUP BY k",
    'SELECT "My sums"."Total"(v) AS s, rows_of(*) AS n, max(v) AS m, path_of(v) AS p'
    " FROM (SELECT v FROM b ORDER BY v DESC) q",
    # for no rows they give what PostgreSQL gives
    'SELECT id, (SELECT "My sums"."Total"(v) FROM b WHERE b.k = a.k) AS s,'
    " (SELECT path_of(z ORDER BY z) || count(*) FROM c WHERE c.k = a.k AND c.z > a.id) AS p,"
    " (SELECT rank(2) WITHIN GROUP (ORDER BY v) FROM b WHERE b.k = a.k) AS r FROM a",
    "SELECT k, id, weighed(id, k) OVER (PARTITION BY k ORDER BY id) AS w, rows_of(*) OVER () AS n"
    " FROM a",
    "SELECT k, path_of(v ORDER BY v DESC) AS p FROM b GROUP BY ROLLUP (k)"
    ' HAVING "My sums"."Total"(v) >= 0',
)
CHANGES = (
    "INSERT INTO a VALUES (9, 1), (NULL, 1), (3, 8); DELETE FROM b WHERE k = 1; UPDATE c SET z = 3",
    "DELETE FROM a WHERE k = 2; INSERT INTO b VALUES (1, 4), (8, 1), (8, NULL); DELETE FROM c",
    "UPDATE a SET k = 2 WHERE id < 5; DELETE FROM b",
)


def test_own_aggregates_stay_exact(ps: PgStream) -> None:
    script(with_three_tables(ps), AGGREGATES)
    assert_all_stay_exact(ps, QUERIES, CHANGES)
