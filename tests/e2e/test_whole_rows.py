"""Whole rows: of a table, of a subquery, and of what an outer join does not find."""

from __future__ import annotations

import pytest

from helpers import assert_all_stay_exact, script
from pgstream.client import PgStream
from pgstream.errors import UnsupportedConstruct

TABLES = """
CREATE TABLE t (gone int, id int, k int, "Name" text, x numeric);
ALTER TABLE t DROP COLUMN gone;
CREATE TABLE u (id int, k int);
INSERT INTO t VALUES (1, 1, 'a', 1.50), (2, 1, NULL, 2), (2, 1, NULL, 2), (NULL, NULL, NULL, NULL);
INSERT INTO u VALUES (1, 1), (2, 2), (3, NULL), (3, NULL);
CREATE VIEW w AS SELECT id, k FROM u WHERE id > 1;
CREATE FUNCTION named(r t) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT r."Name" || r.id';
"""
QUERIES = (
    "SELECT t, to_jsonb(t) AS j, t IS NULL AS n, t IS NOT NULL AS m, public.named(t) AS s FROM t",
    "SELECT u.id, t AS r, t IS NULL AS n, t IS DISTINCT FROM NULL AS there, to_jsonb(t) AS j"
    " FROM u LEFT JOIN t ON t.k = u.k",
    "SELECT u.k, count(t) AS n, count(u) AS m, jsonb_agg(t ORDER BY t) AS j FROM u FULL JOIN t"
    " ON t.id = u.id GROUP BY u.k",
    "SELECT u.id, to_jsonb(s) AS j, s IS NULL AS n, s::text AS x FROM u LEFT JOIN"
    ' (SELECT k, max(x) AS "Max x" FROM t GROUP BY k) s ON s.k = u.id',
    "SELECT w, to_jsonb(w) AS j FROM w",
    "SELECT count(s) AS n, jsonb_agg(s ORDER BY s.id, s.k) AS j FROM (SELECT id, k FROM u) s",
    "SELECT t, count(*) AS n FROM t WHERE t IN (SELECT v FROM t v WHERE v.k = 1) GROUP BY t",
)
CHANGES = (
    "INSERT INTO t VALUES (3, 2, 'c', 3), (NULL, 2, NULL, NULL); UPDATE u SET k = 1 WHERE id = 3;"
    " DELETE FROM t WHERE id = 1",
    "UPDATE t SET x = x + 1, k = 3 WHERE id = 2; DELETE FROM u WHERE id = 2;"
    " INSERT INTO u VALUES (NULL, NULL), (3, 3)",
)


@pytest.mark.filterwarnings("ignore::pgstream.client.PgStreamWarning")
def test_whole_rows(ps: PgStream) -> None:
    script(ps, TABLES)
    assert_all_stay_exact(ps, QUERIES, CHANGES)


def test_what_has_no_whole_row_is_refused(ps: PgStream) -> None:
    script(ps, TABLES)
    ps.create_stream_table("s", "SELECT id, k FROM u", initialize=False)
    function = "u LEFT JOIN jsonb_each('{}') s ON true"
    for relation in ("s", function):
        with pytest.raises(UnsupportedConstruct, match="A whole row of s"):
            ps.create_stream_table("st", f"SELECT count(s) AS n FROM {relation}")
