"""DISTINCT and set operations through every kind of change."""

from __future__ import annotations

import pytest

from helpers import create_exact, refresh_exact, script
from pgstream.client import PgStream

QUERIES = {
    "distinct": "SELECT DISTINCT k, v FROM a",
    "distinct of a join": "SELECT DISTINCT a.k, b.v FROM a JOIN b ON a.k = b.k",
    "distinct groups": "SELECT DISTINCT count(*) AS n FROM a GROUP BY k",
    "union": "SELECT k FROM a UNION SELECT k FROM b",
    "intersect": "SELECT k, v FROM a INTERSECT SELECT k, v FROM b",
    "except": "SELECT k FROM a EXCEPT SELECT k FROM b",
    "intersect all": "SELECT k FROM a INTERSECT ALL SELECT k FROM b",
    "except all": "SELECT k FROM a EXCEPT ALL SELECT k FROM b",
    "mixed": "(SELECT k FROM a EXCEPT ALL SELECT k FROM b) UNION ALL"
    " (SELECT v FROM b INTERSECT SELECT v FROM a)",
    "nested": "SELECT x.k, count(*) AS n FROM (SELECT k FROM a UNION SELECT v FROM b) x"
    " JOIN a ON a.k = x.k GROUP BY x.k",
    "types": "SELECT k FROM a UNION SELECT n FROM c EXCEPT SELECT v FROM b",
}
CHANGES = (
    "INSERT INTO a VALUES (1, 1), (3, 3), (NULL, NULL); DELETE FROM b WHERE k = 2",
    "DELETE FROM a WHERE k = 1; INSERT INTO b VALUES (NULL, NULL), (3, 3), (3, 3)",
    "UPDATE a SET k = 3 WHERE k = 2; UPDATE b SET k = 2 WHERE k = 3; UPDATE c SET n = n + 1",
    "DELETE FROM a; DELETE FROM b",
    "INSERT INTO a SELECT i % 4, i % 3 FROM generate_series(1, 9) i;"
    " INSERT INTO b SELECT i % 3, i % 4 FROM generate_series(1, 9) i",
)


@pytest.fixture
def tables(ps: PgStream) -> PgStream:
    script(
        ps,
        "CREATE TABLE a (k int, v int); CREATE TABLE b (k int, v int); CREATE TABLE c (n numeric)",
        "INSERT INTO a VALUES (1, 1), (1, 1), (2, 2), (2, NULL), (NULL, NULL)",
        "INSERT INTO b VALUES (1, 1), (2, 2), (2, 2), (4, NULL)",
        "INSERT INTO c VALUES (1.0), (2.50), (1.00), (NULL)",
    )
    return ps


@pytest.mark.parametrize("name", QUERIES)
def test_set_operations_stay_exact(tables: PgStream, name: str) -> None:
    create_exact(tables, "st", QUERIES[name])
    for change in CHANGES:
        tables.execute(change)
        refresh_exact(tables, "st")


@pytest.mark.usual_way
def test_counts_are_stored_so_nothing_is_read(tables: PgStream) -> None:
    create_exact(tables, "st", QUERIES["except all"])
    tables.execute("INSERT INTO a VALUES (1, 5), (9, 9); DELETE FROM b WHERE k = 1")
    result = refresh_exact(tables, "st")
    assert (result.action, result.rows_read, result.spark_actions) == ("DIFFERENTIAL", 0, 1)
