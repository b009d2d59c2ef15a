"""The first rows of each group: a change reads these, not the groups."""

from __future__ import annotations

import pytest

from helpers import create_exact, refresh_exact, script
from pgstream.catalog.records import Action
from pgstream.client import PgStream

TABLES = """
CREATE TABLE t (id int PRIMARY KEY, g int, x int, y numeric(8, 2), name text, d date);
CREATE INDEX ON t (g, x DESC);
INSERT INTO t SELECT i, nullif(i % 4, 0), i % 90, nullif(i % 70, 3) / 4.0, 'n' || i % 11,
    date '2024-01-01' + i % 50 FROM generate_series(1, 2000) i;
"""
QUERIES = {
    "numbers": "SELECT id, g, n FROM (SELECT id, g, row_number() OVER (PARTITION BY g"
    " ORDER BY x DESC, id) AS n FROM t) q WHERE n <= 3",
    "ranks": "SELECT id, x FROM (SELECT *, rank() OVER (PARTITION BY g ORDER BY x DESC NULLS LAST,"
    " d) AS n FROM t WHERE y > 2 AND name <> 'n4') q WHERE n < 3 AND x > 5",
    "distinct on": "SELECT DISTINCT ON (g) g, id, y FROM t ORDER BY g, y DESC, id",
    "of all": "SELECT g, count(*) AS n FROM (SELECT g FROM t ORDER BY x DESC, id LIMIT 5 OFFSET 1)"
    " q GROUP BY g",
    "by text": "SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY d ORDER BY"
    ' name COLLATE "C", id DESC) AS n FROM t) q WHERE n = 1',
    "counted": "SELECT g, sum(x) AS s FROM (SELECT g, x, row_number() OVER (PARTITION BY g"
    " ORDER BY x DESC, id) AS n FROM t) q WHERE n <= 10 GROUP BY g",
}
CHANGES = (
    "INSERT INTO t SELECT i, i % 4, 1000 + i, 9, 'n0', NULL FROM generate_series(3001, 3006) i",
    "UPDATE t SET x = x - 2000 WHERE id > 3000",
    "DELETE FROM t WHERE x > 85; INSERT INTO t VALUES (4000, NULL, 500, NULL, NULL, NULL)",
    "UPDATE t SET g = g + 1 WHERE id % 100 = 0; UPDATE t SET y = NULL WHERE id = 7",
    "DELETE FROM t WHERE g = 2; DELETE FROM t WHERE g IS NULL AND id > 40",
    "INSERT INTO t SELECT i, 2, i % 3, 7, 'a', '2024-02-01' FROM generate_series(5001, 5003) i",
    "DELETE FROM t",
)


def test_every_change_is_exact(ps: PgStream) -> None:
    script(ps, TABLES)
    names = {f"s{i}": query for i, query in enumerate(QUERIES.values())}
    for name, query in names.items():
        create_exact(ps, name, query)
        assert "the first" in dict(ps.explain(name))["Operator Tree"], query
    for change in CHANGES:
        script(ps, change)
        for name in names:
            refresh_exact(ps, name)


@pytest.mark.usual_way
@pytest.mark.parametrize(("query", "most"), [("numbers", 10), ("of all", 20), ("counted", 30)])
def test_a_change_reads_the_first_rows_only(ps: PgStream, query: str, most: int) -> None:
    """Of groups of five hundred rows."""
    script(ps, TABLES)
    create_exact(ps, "st", QUERIES[query])
    for change in ("INSERT INTO t VALUES (9001, 1, 2000, 1, 'a', NULL)",
                   "DELETE FROM t WHERE id = 9001"):  # fmt: skip
        script(ps, change)
        result = refresh_exact(ps, "st")
        assert result.action is Action.DIFFERENTIAL
        assert 0 < result.rows_read <= most
