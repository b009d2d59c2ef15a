"""Subqueries in the ON of joins: over one side, over both, for every kind of join."""

from __future__ import annotations

from helpers import assert_all_stay_exact, with_three_tables
from pgstream.client import PgStream

QUERIES = (
    # over the right side, and over both
    "SELECT a.id, b.v FROM a LEFT JOIN b ON a.k = b.k AND EXISTS (SELECT FROM c WHERE c.z = b.v)",
    "SELECT a.id, b.v FROM a LEFT JOIN b ON a.k = b.k"
    " AND b.v NOT IN (SELECT c.z FROM c WHERE c.k = a.k)",
    "SELECT b.v, count(a.id) AS n FROM a RIGHT JOIN b ON a.k = b.k"
    " AND EXISTS (SELECT FROM c WHERE c.k = a.k AND c.z <= b.v) GROUP BY b.v",
    # a FULL JOIN by values of its sides, and by a condition over both
    "SELECT a.id, b.v FROM a FULL JOIN b ON a.k = b.k AND a.k IN (SELECT c.k FROM c)"
    " AND b.v >= (SELECT min(c.z) FROM c WHERE c.k = b.k)",
    "SELECT a.id, b.v, upper(a.id || 'x') AS u FROM a FULL JOIN b ON a.k = b.k"
    " AND b.v NOT IN (SELECT c.z FROM c WHERE c.k = a.k OR c.k = b.v)",
    # an inner join whose rows another join pads
    "SELECT c.z, a.id, b.v FROM c LEFT JOIN (a JOIN b ON a.k = b.k"
    " AND b.v > ALL (SELECT q.id FROM a q WHERE q.k = b.v)) ON c.k = a.k",
)
CHANGES = (
    "INSERT INTO c VALUES (2, 9), (3, NULL); INSERT INTO b VALUES (7, 2); DELETE FROM a"
    " WHERE id = 3",
    "DELETE FROM c; UPDATE a SET k = 3 WHERE id = 1; UPDATE b SET v = 9 WHERE k = 2;"
    " INSERT INTO a VALUES (6, 3), (6, 3), (NULL, NULL)",
    "INSERT INTO c VALUES (3, 30), (NULL, NULL); DELETE FROM b WHERE k = 2; UPDATE a SET k = 1",
)


def test_subqueries_in_on_stay_exact(ps: PgStream) -> None:
    assert_all_stay_exact(with_three_tables(ps), QUERIES, CHANGES)
