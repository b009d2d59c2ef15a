"""Every way that a row can take, for tables of more than a few hundred rows."""

from __future__ import annotations

from typing import Any

import pytest

from helpers import (
    assert_all_stay_exact,
    create_exact,
    refresh_exact,
    script,
    with_three_tables,
)
from pgstream.client import PgStream
from pgstream.engine.spark import execution
from pgstream.engine.spark.relation import Relation
from pgstream.engine.spark.render import render
from pgstream.engine.ways import Ways
from pgstream.settings import Settings
from ways import WAYS, send

# Each has only conditions that are computed in the scan, or hands rows to PostgreSQL.
QUERIES = (
    "SELECT id, name FROM t WHERE upper(name) LIKE 'N1%'",
    "SELECT count(*) AS n, sum(amount) AS total FROM t WHERE upper(name) LIKE 'N1%'",
    "SELECT t.id, u.label FROM t JOIN u ON t.k = u.k WHERE upper(t.name) < upper(u.label)",
    "SELECT DISTINCT k FROM t WHERE md5(name) < 'a'",
    "SELECT k, percentile_cont(0.5) WITHIN GROUP (ORDER BY id) AS middle FROM t"
    " WHERE upper(name) LIKE 'N1%' GROUP BY k",
    "SELECT id, rank() OVER (PARTITION BY k ORDER BY name) AS place FROM t"
    " WHERE upper(name) LIKE 'N1%'",
    "SELECT id FROM t WHERE upper(name) LIKE 'N1%'"
    " AND k IN (SELECT k FROM u WHERE md5(label) < 'a')",
    "SELECT id FROM t WHERE upper(name) LIKE 'N1%' EXCEPT SELECT k FROM u WHERE md5(label) < 'a'",
)
CHANGES = (
    "UPDATE t SET name = 'N1' || name WHERE id % 50 = 0; DELETE FROM u WHERE k % 10 = 3",
    "DELETE FROM t WHERE id % 3 = 0;"
    " INSERT INTO u SELECT k, 'n' || k FROM generate_series(90, 99) k",
    "INSERT INTO t SELECT i, i % 100, 'n' || i, NULL FROM generate_series(2001, 2600) i",
)


@pytest.mark.parametrize("way", sorted(set(WAYS) - {"turns"}))
def test_conditions_in_the_scan(ps: PgStream, way: str) -> None:
    script(
        ps,
        "CREATE TABLE t (id int PRIMARY KEY, k int, name text, amount numeric(10,2))",
        "CREATE TABLE u (k int, label text)",
        "INSERT INTO t SELECT i, nullif(i % 100, 7), 'n' || i, i / 4.0"
        " FROM generate_series(1, 2000) i",
        "INSERT INTO u SELECT k, 'n' || k FROM generate_series(0, 89) k",
        "ANALYZE",
    )
    send(ps, way)
    by_driver = way in ("values", "arrow")
    assert_all_stay_exact(ps, QUERIES, CHANGES if by_driver else CHANGES[:2])


@pytest.mark.usual_way
def test_a_condition_in_the_scan_of_an_ordinary_table(ps: PgStream) -> None:
    script(
        ps,
        "CREATE TABLE t (id int PRIMARY KEY, name text)",
        "INSERT INTO t SELECT i, 'n' || i FROM generate_series(1, 1000) i",
    )
    changes = ("UPDATE t SET name = 'N1' || name WHERE id % 2 = 0", "DELETE FROM t WHERE id < 900")
    assert_all_stay_exact(ps, ["SELECT id FROM t WHERE upper(name) LIKE 'N1%'"], changes)


NESTED = (
    "SELECT id FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.v > a.k)",
    "SELECT id FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.v > a.k"
    " AND NOT EXISTS (SELECT 1 FROM c WHERE c.z > b.k))",
    "SELECT id FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.v > a.k"
    " AND NOT EXISTS (SELECT 1 FROM c WHERE c.z > b.k"
    " AND NOT EXISTS (SELECT 1 FROM d WHERE d.v > c.k)))",
)


@pytest.mark.parametrize("way", ["slices", "kept"])
def test_statements_grow_with_the_query_and_no_faster(
    ps: PgStream, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Executors find the keys; a statement that repeated them would double with each level."""
    with_three_tables(ps)
    ps.execute("CREATE TABLE d AS SELECT k + 1 AS k, v FROM b")
    sizes: list[int] = []

    def measured(*arguments: Any, **options: Any) -> Relation:
        relation = render(*arguments, **options)
        sizes.append(len(relation.sql))
        return relation

    monkeypatch.setattr(execution, "render", measured)
    send(ps, way)
    longest = []
    for i, query in enumerate(NESTED):
        create_exact(ps, f"st_{i}", query)
        script(ps, *(f"INSERT INTO {t} SELECT * FROM {t} LIMIT 2" for t in "abcd"))
        sizes.clear()
        refresh_exact(ps, f"st_{i}")
        longest.append(max(sizes))
    first, second, third = longest
    assert third - second <= 2 * (second - first), longest


BEYOND = (
    "SELECT t.id, u.label FROM t JOIN u ON t.k = u.k",
    "SELECT t.id, u.label FROM t LEFT JOIN u ON t.k = u.k WHERE md5(t.name) < 'a'",
    "SELECT id, rank() OVER (PARTITION BY k ORDER BY amount DESC, id) AS place FROM t",
)


@pytest.mark.usual_way
def test_beyond_the_budget_nothing_passes_through_the_driver(database: str, spark: object) -> None:
    """Not a lookup, and no change of a stream table in the same cycle either."""
    accounts: list[Ways] = []

    def account(most_rows: int, most_bytes: int) -> Ways:
        accounts.append(Ways(most_rows, most_bytes))
        return accounts[-1]

    settings = Settings(differential_max_change_ratio=0.0, small_path_bytes=1, read_slices=2)
    with PgStream(database, spark, settings=settings) as ps:
        script(
            ps,
            "CREATE TABLE t (id int PRIMARY KEY, k int, name text, amount numeric(10,2))",
            "CREATE TABLE u (k int, label text)",
            "CREATE INDEX ON t (k)",
            "INSERT INTO t SELECT i, nullif(i % 20, 7), 'n' || i, i / 4.0"
            " FROM generate_series(1, 200) i",
            "INSERT INTO u SELECT k, 'n' || k FROM generate_series(0, 19) k",
        )
        ps.refresher.ways = account
        for i, query in enumerate(BEYOND):
            create_exact(ps, f"st_{i}", query)
        create_exact(ps, "top", "SELECT label, count(*) AS n FROM st_0 GROUP BY label")
        names = ("st_0", "st_1", "st_2", "top")
        for change in ("UPDATE t SET amount = -1 WHERE k IN (1, 2)", "DELETE FROM u WHERE k = 3"):
            ps.execute(change)
            for name in names:
                refresh_exact(ps, name)
    assert [each.held for each in accounts] == [0] * len(accounts)
