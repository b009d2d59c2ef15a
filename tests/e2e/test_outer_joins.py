"""LEFT, RIGHT, FULL and NATURAL joins through every kind of change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from helpers import assert_stays_exact, create_exact, refresh_exact, with_three_tables
from pgstream.client import PgStream, PgStreamWarning

QUERIES = {
    "left": "SELECT a.id, a.k, b.v FROM a LEFT JOIN b ON a.k = b.k",
    "right": "SELECT a.id, b.v FROM a RIGHT JOIN b ON a.k = b.k AND a.id > 2",
    "full": "SELECT a.id, b.v, coalesce(a.k, b.k) AS k FROM a FULL JOIN b ON a.k = b.k",
    "full using": "SELECT k, a.id, b.v FROM a FULL JOIN b USING (k)",
    "residual": "SELECT a.id, b.v FROM a LEFT JOIN b ON a.k = b.k AND b.v > a.id",
    "no equality": "SELECT a.id, b.v FROM a LEFT JOIN b ON a.id < b.v",
    "null test": "SELECT a.id, b.v FROM a LEFT JOIN b ON a.k = b.k WHERE b.v IS NULL",
    "chain with max": "SELECT a.k, count(b.v) AS n, max(b.v) AS m, sum(c.z) AS s FROM a"
    " LEFT JOIN b ON a.k = b.k LEFT JOIN c ON c.z = b.v GROUP BY a.k",
    "of a group": "SELECT a.id, q.n FROM a LEFT JOIN"
    " (SELECT k, count(*) AS n FROM b GROUP BY k) q ON q.k = a.k",
    "of a full join": "SELECT q.k, b.v FROM"
    " (SELECT a.k, c.z FROM a FULL JOIN c ON a.k = c.k) q LEFT JOIN b ON q.z = b.v",
    "natural": "SELECT id, v FROM a NATURAL JOIN b",
    "natural left": "SELECT id, v FROM a NATURAL LEFT JOIN b",
    "scalar": "SELECT count(*) AS n, max(b.v) AS m FROM a LEFT JOIN b ON a.k = b.k",
}
CHANGES = (
    "INSERT INTO b VALUES (4, 9), (NULL, 1); DELETE FROM a WHERE id = 1",
    "UPDATE a SET k = 4 WHERE id = 2; DELETE FROM b WHERE k = 4; UPDATE c SET z = 9",
    "DELETE FROM b",
    "INSERT INTO b SELECT i % 4, i FROM generate_series(1, 6) i; UPDATE a SET k = k + 1",
    "DELETE FROM a; DELETE FROM c",
    "INSERT INTO a VALUES (1, 1), (2, NULL), (2, NULL), (3, 3); INSERT INTO c VALUES (1, 5)",
)


@pytest.fixture
def tables(ps: PgStream) -> PgStream:
    return with_three_tables(ps)


@pytest.mark.parametrize("name", QUERIES)
def test_outer_joins_stay_exact(tables: PgStream, name: str) -> None:
    assert_stays_exact(tables, QUERIES[name], *CHANGES)


def test_an_expression_over_padded_columns_is_not_taken_from_the_scan(tables: PgStream) -> None:
    """concat(NULL, 'x') is 'x': what PostgreSQL computes while reading b would be NULL."""
    query = "SELECT a.id, concat(b.v, 'x') AS t FROM a LEFT JOIN b ON a.k = b.k"
    with pytest.warns(PgStreamWarning, match="STABLE"):
        create_exact(tables, "st", query)
    tables.execute("DELETE FROM b WHERE k = 1; INSERT INTO b VALUES (3, 30)")
    refresh_exact(tables, "st")


@pytest.mark.parametrize("nested_state", [True, False])
def test_a_key_comes_on_one_side_and_goes_on_the_other(
    tables: PgStream, nested_state: bool
) -> None:
    """Both are keys of the change: they do not cancel out, though Spark computes them."""
    tables.settings = replace(tables.settings, nested_state=nested_state)
    tables.refresher.settings = tables.settings
    query = (
        "SELECT q.s, q.k, r.k AS other FROM (SELECT k, sum(id) AS s FROM a GROUP BY k) q"
        " FULL JOIN (SELECT k, sum(v) AS s FROM b GROUP BY k) r ON r.s = q.s"
    )
    create_exact(tables, "st", query)
    tables.execute("UPDATE a SET id = 30 WHERE id = 5; DELETE FROM b WHERE v = 30")
    refresh_exact(tables, "st")
    tables.execute("DELETE FROM a WHERE id = 30; INSERT INTO b VALUES (8, 29), (8, 1)")
    refresh_exact(tables, "st")


@pytest.mark.usual_way
def test_a_change_reads_only_its_keys(tables: PgStream) -> None:
    tables.execute("INSERT INTO a SELECT i, i FROM generate_series(100, 2000) i")
    tables.execute("INSERT INTO b SELECT i, i FROM generate_series(100, 2000) i")
    create_exact(tables, "st", QUERIES["left"])
    tables.execute("UPDATE b SET v = 0 WHERE k = 500; DELETE FROM b WHERE k = 501")
    assert refresh_exact(tables, "st").rows_read <= 10
