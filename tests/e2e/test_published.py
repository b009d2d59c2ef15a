"""A publication of all tables has our own among them, and refreshes go on."""

from __future__ import annotations

from helpers import create_exact, refresh_exact, script
from pgstream.client import PgStream

QUERIES = {
    "rows": "SELECT id, k, x FROM t WHERE x > 2",
    "groups": "SELECT k, sum(x) AS s, max(x) AS m FROM t GROUP BY k",
    "nested": "SELECT t.id FROM t JOIN (SELECT k, avg(x) AS mean FROM t GROUP BY k) m USING (k)"
    " WHERE t.x > m.mean",
    "first": "SELECT id, x FROM t ORDER BY x DESC, id LIMIT 3",
    "tree": "WITH RECURSIVE r AS (SELECT id, k FROM t WHERE id = 1 UNION ALL"
    " SELECT t.id, t.k FROM t JOIN r ON t.k = r.id AND t.id > r.id) SELECT id FROM r",
}


def test_a_publication_of_all_tables(ps: PgStream) -> None:
    script(
        ps,
        "CREATE TABLE t (id int PRIMARY KEY, k int, x int)",
        "INSERT INTO t SELECT i, i / 3, i % 7 FROM generate_series(1, 30) i",
        "CREATE PUBLICATION everything FOR ALL TABLES",
    )
    for name, query in QUERIES.items():
        create_exact(ps, name, query)
    for change in ("UPDATE t SET x = x + 3 WHERE id % 4 = 0", "DELETE FROM t WHERE id > 20"):
        ps.execute(change)
        for name in QUERIES:
            refresh_exact(ps, name)
    waiting = ps.execute("SELECT sum(pending_rows) FROM pgstream.change_buffer_sizes()")
    assert waiting == [(0,)]
