"""ARRAY(SELECT …): the rows of a subquery, in their order, as an array."""

from __future__ import annotations

from helpers import assert_all_stay_exact, with_three_tables
from pgstream.client import PgStream

QUERIES = (
    "SELECT id, ARRAY(SELECT b.v FROM b WHERE b.k = a.k ORDER BY b.v DESC) AS vs FROM a",
    "SELECT k, ARRAY(SELECT c.z FROM c ORDER BY c.z, c.k) AS zs, count(*) AS n FROM a GROUP BY k",
    "SELECT id FROM a WHERE id = ANY (ARRAY(SELECT b.v FROM b)) OR 30 = ANY (ARRAY(SELECT b.v"
    " FROM b WHERE b.k > a.k))",
    "SELECT id, ARRAY(SELECT DISTINCT b.v FROM b WHERE b.k <= a.k ORDER BY b.v LIMIT 2) AS vs,"
    " ARRAY(SELECT b.k FROM b WHERE b.v = a.id UNION SELECT a.k ORDER BY 1) AS ks FROM a",
    "SELECT id, ARRAY(SELECT ARRAY[b.v, a.id] FROM b WHERE b.k = a.k ORDER BY b.v) AS pairs,"
    " ARRAY(SELECT s * a.k FROM generate_series(1, a.k) s) AS series FROM a",
    "SELECT k, ARRAY(SELECT sum(c.z) FROM c WHERE c.k >= b.k GROUP BY c.k ORDER BY c.k) AS s,"
    " cardinality(ARRAY(SELECT c.z FROM c WHERE c.k = b.k)) AS n FROM b",
    "SELECT ARRAY(SELECT a.id FROM a ORDER BY a.id) AS ids, max(v) AS m FROM b",
)
CHANGES = (
    "INSERT INTO a VALUES (20, 3), (21, NULL); DELETE FROM a WHERE id = 2;"
    " UPDATE b SET v = v + 1 WHERE k = 2; INSERT INTO b VALUES (3, 30), (7, NULL); DELETE FROM c",
    "DELETE FROM b; INSERT INTO c VALUES (1, 4), (2, NULL); UPDATE a SET k = k + 1",
)


def test_an_array_of_a_subquerys_rows(ps: PgStream) -> None:
    assert_all_stay_exact(with_three_tables(ps), QUERIES, CHANGES)
