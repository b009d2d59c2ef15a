"""The key of a stream table: the columns that tell its rows apart."""

from __future__ import annotations

import psycopg
import pytest

from pgstream.catalog import store
from pgstream.compile.prepare import prepare
from pgstream.database.connection import connect

CASES = {
    "SELECT g, sum(x) AS total FROM t GROUP BY g": ("g",),
    "SELECT sum(x) AS total, g FROM t GROUP BY g HAVING sum(x) > 1": ("g",),
    "SELECT sum(x) AS total FROM t GROUP BY g": None,
    "SELECT count(*) AS n FROM t": (),
    "SELECT x, id FROM t WHERE x > 1": ("id",),
    "SELECT x FROM t": None,
    "SELECT t.id, u.y FROM t JOIN u ON u.id = t.g": ("id",),
    "SELECT id, x FROM t ORDER BY x LIMIT 3": ("id",),
    "SELECT x FROM t ORDER BY id LIMIT 3": None,
    "SELECT g AS a, g AS b, count(*) AS n FROM t GROUP BY g": ("b",),
    "SELECT id FROM t UNION ALL SELECT id FROM u": None,
}


@pytest.fixture
def tables(owner: psycopg.Connection) -> psycopg.Connection:
    owner.execute("CREATE TABLE t (id int PRIMARY KEY, g int, x int)")
    owner.execute("CREATE TABLE u (id int PRIMARY KEY, y int)")
    return owner


@pytest.mark.parametrize("query", CASES)
def test_key(tables, database, query):
    tables.execute("SELECT pgstream.create_stream_table('st', %s)", (query,))
    with connect(database.dsn_as("pgs_test_owner")) as own:
        plan = prepare(own, store.stream_table(own, "st")).plan
    assert plan.key == CASES[query]
