"""The cost follows the change, not the table; and the large path is as exact as the small one."""

from __future__ import annotations

import pytest

from helpers import assert_exact, assert_same_text, create_exact, refresh_exact, script
from pgstream.catalog.records import Action
from pgstream.client import PgStream
from pgstream.settings import Settings

pytestmark = pytest.mark.usual_way
JOIN_AGG = (
    "SELECT d.region_name, SUM(s.amount) AS total, COUNT(*) AS n"
    " FROM src s JOIN dim d ON s.region = d.region GROUP BY d.region_name"
)
SIZE = 1_000_000
CHANGED = 100


@pytest.fixture
def benchmark(ps: PgStream) -> PgStream:
    script(
        ps,
        "CREATE TABLE src (id int PRIMARY KEY, region text, category text, amount numeric,"
        " score int)",
        "CREATE TABLE dim (region text PRIMARY KEY, region_name text)",
        "INSERT INTO dim SELECT r, initcap(r) FROM unnest(ARRAY['north', 'south', 'east', 'west',"
        " 'central']) r",
        "INSERT INTO src SELECT i, (ARRAY['north', 'south', 'east', 'west', 'central'])[1 + i % 5],"
        " (ARRAY['A', 'B', 'C', 'D'])[1 + i % 4], round((i * 13 % 10007) / 7.0, 2), i % 100"
        f" FROM generate_series(1, {SIZE}) i",
        "ANALYZE src",
        "ANALYZE dim",
    )
    return ps


def change_some(ps: PgStream) -> None:
    """100 rows: 70 % updates, 15 % deletes, 15 % inserts."""
    script(
        ps,
        f"UPDATE src SET amount = amount + 1.5, score = score + 1 WHERE id % {SIZE // 70} = 3"
        " AND id <= (SELECT max(id) FROM (SELECT id FROM src"
        f" WHERE id % {SIZE // 70} = 3 ORDER BY id LIMIT 70) s)",
        f"DELETE FROM src WHERE id IN (SELECT id FROM src WHERE id % {SIZE // 15} = 5 LIMIT 15)",
        f"INSERT INTO src SELECT {2 * SIZE} + i, 'east', 'A', i * 0.5, 1"
        " FROM generate_series(1, 15) i",
    )


def test_join_agg_of_a_million_rows(benchmark: PgStream) -> None:
    created = create_exact(benchmark, "join_agg", JOIN_AGG)
    assert created is not None
    assert created.rows_read >= SIZE
    change_some(benchmark)
    result = refresh_exact(benchmark, "join_agg")
    assert_same_text(benchmark, "join_agg")
    assert result.action is Action.DIFFERENTIAL
    assert 0 < result.changes_read <= 2 * CHANGED
    assert result.rows_read <= 1000
    assert result.spark_actions <= 2
    (recorded,) = benchmark.history("join_agg", 1)
    assert recorded["changes_read"] == result.changes_read
    assert recorded["rows_read"] == result.rows_read
    assert recorded["spark_actions"] == result.spark_actions
    assert recorded["compute_ms"] > 0
    assert recorded["apply_ms"] > 0
    nothing = refresh_exact(benchmark, "join_agg")
    assert nothing.action is Action.NO_DATA
    assert nothing.spark_actions == nothing.rows_read == nothing.changes_read == 0
    (recorded,) = benchmark.history("join_agg", 1)
    assert (recorded["action"], recorded["spark_actions"]) == ("NO_DATA", 0)
    moved_dimension(benchmark)


def test_rows_are_read_once_however_often_the_query_asks_for_them(ps: PgStream) -> None:
    script(
        ps,
        "CREATE TABLE t (id int PRIMARY KEY)",
        "CREATE TABLE u (tid int, y int)",
        "CREATE INDEX ON u (tid)",
        "INSERT INTO t SELECT generate_series(1, 500)",
        "INSERT INTO u SELECT i % 500 + 1, i FROM generate_series(1, 5000) i",
    )
    most, least = (f"(SELECT {f}(y) FROM u WHERE u.tid = t.id)" for f in ("max", "min"))
    create_exact(ps, "st", f"SELECT id, {most} AS most, {least} AS least FROM t")
    ps.execute("UPDATE u SET y = 0 WHERE y = 17")
    assert refresh_exact(ps, "st").rows_read == 1 + 2  # the row that shows it, and the two groups
    ps.execute("UPDATE u SET tid = 4 WHERE tid = 5")
    assert refresh_exact(ps, "st").rows_read < 10  # of two groups, and not their rows


# What a change of three rows of 1,000 reads: of the left side, and of the right one.
ONE_SIDED = {
    "LEFT JOIN": ("SELECT t.id, u.v FROM t LEFT JOIN u ON u.k = t.k", 3, 300 + 3),
    "EXISTS": ("SELECT id FROM t WHERE EXISTS (SELECT FROM u WHERE u.k = t.k)", 3, 100 + 1),
    "NOT EXISTS": ("SELECT id FROM t WHERE NOT EXISTS (SELECT FROM u WHERE u.k = t.k)", 3, 100 + 1),
    "with a condition": (
        "SELECT id FROM t WHERE EXISTS (SELECT FROM u WHERE u.k = t.k AND u.v <> t.w)",
        4,
        300 + 3,
    ),
    "NOT IN": ("SELECT id FROM t WHERE k NOT IN (SELECT k FROM u)", 4, 100 + 2),
}


@pytest.mark.parametrize("name", ONE_SIDED)
def test_a_change_of_the_left_side_reads_its_partners_only(ps: PgStream, name: str) -> None:
    query, of_left, of_right = ONE_SIDED[name]
    script(
        ps,
        "CREATE TABLE t (id int PRIMARY KEY, k int, w int)",
        "CREATE TABLE u (k int, v int)",
        "INSERT INTO t SELECT i, i % 10, i FROM generate_series(1, 1000) i",
        "INSERT INTO u SELECT i, i FROM generate_series(0, 9) i",
    )
    create_exact(ps, "st", query)
    ps.execute("UPDATE t SET w = 0, k = nullif(k, 1) WHERE id IN (1, 2, 3, 4)")
    assert refresh_exact(ps, "st").rows_read <= of_left
    ps.execute("DELETE FROM u WHERE k = 2; UPDATE u SET v = 0 WHERE k IN (3, 4)")
    assert refresh_exact(ps, "st").rows_read <= of_right
    ps.execute("INSERT INTO u VALUES (NULL, 1), (2, 2), (2, 3); DELETE FROM t WHERE k = 3")
    refresh_exact(ps, "st")


def moved_dimension(ps: PgStream) -> None:
    """A whole region gets another name: a fifth of the table is read, and still exact."""
    ps.execute("UPDATE dim SET region_name = 'The Far East' WHERE region = 'east'")
    refresh_exact(ps, "join_agg")


# --- the large path -------------------------------------------------------------------------


SHAPES = {
    "plain": "SELECT id, n * 2 AS y, s FROM a WHERE k > 1",
    "join": "SELECT a.id, a.n, b.label FROM a JOIN b ON a.k = b.k",
    "cross": "SELECT a.id, b.label FROM a CROSS JOIN b WHERE a.id < 9",
    "self join": "SELECT x.id, y.id AS other FROM a x JOIN a y ON x.k = y.k AND x.id < y.id",
    "aggregate": "SELECT k, count(*) AS n, sum(n) AS total, avg(n) AS mean, min(d) AS low,"
    " max(n) AS high FROM a GROUP BY k",
    "floats": "SELECT k, sum(f) AS total FROM a GROUP BY k",
    "scalar": "SELECT count(*) AS n, sum(n) AS total FROM a",
    "join and aggregate": "SELECT b.label, sum(a.n) AS total FROM a JOIN b USING (k)"
    " GROUP BY b.label HAVING count(*) > 2",
    "nested": "SELECT c, count(*) AS groups FROM (SELECT k, count(*) AS c FROM a GROUP BY k) q"
    " GROUP BY c",
    "union": "SELECT id, n FROM a UNION ALL SELECT k, 1.25 FROM b",
    "computed keys": "SELECT q.t, b.label FROM (SELECT k, count(*) AS t FROM a GROUP BY k) q"
    " JOIN b ON b.k = q.t",
    "partitioned": "SELECT p.region, sum(p.v) AS total, count(*) AS n FROM p JOIN b ON b.k = p.k"
    " GROUP BY p.region",
    "left, semi and anti": "SELECT a.id, b.label FROM a LEFT JOIN b ON b.k = a.k WHERE EXISTS"
    " (SELECT FROM p WHERE p.k = a.k AND p.v > a.n)"
    " AND NOT EXISTS (SELECT FROM b c WHERE c.k = a.n)",
    "partitioned rows": "SELECT region, v FROM p WHERE v > 3",
}
CHANGES = (
    "UPDATE a SET n = n + 0.125, f = f + 1 WHERE id % 3 = 0",
    "DELETE FROM a WHERE k = 2",
    "UPDATE b SET label = 'x' WHERE k = 1",
    "UPDATE a SET k = k + 1 WHERE id > 30",
    "INSERT INTO p SELECT 'r' || i % 3, i % 6, i / 8.0 FROM generate_series(1, 25) i",
    "UPDATE p SET region = 'r2' WHERE region = 'r1' AND v > 2",
    "INSERT INTO a SELECT id + 500, k, n, s, d, f FROM a",
    "DELETE FROM b WHERE k = 3",
    "DELETE FROM a",
    "INSERT INTO a VALUES (1, 1, 1, 'back', NULL, NULL)",
)


@pytest.fixture
def settings() -> Settings:
    return Settings(differential_max_change_ratio=0.0, min_schedule_seconds=1)


@pytest.fixture
def large(database: str, spark: object) -> object:
    settings = Settings(
        differential_max_change_ratio=0.0, min_schedule_seconds=1, small_path_rows=10, read_slices=3
    )
    with PgStream(database, spark, settings=settings) as ps:
        script(
            ps,
            "CREATE TABLE a (id int, k int, n numeric, s text, d date, f double precision)",
            "CREATE TABLE b (k int PRIMARY KEY, label text)",
            "CREATE TABLE p (region text, k int, v numeric) PARTITION BY LIST (region)",
            "CREATE TABLE p0 PARTITION OF p FOR VALUES IN ('r0')",
            "CREATE TABLE p1 PARTITION OF p FOR VALUES IN ('r1') PARTITION BY RANGE (k)",
            "CREATE TABLE p1a PARTITION OF p1 FOR VALUES FROM (0) TO (3)",
            "CREATE TABLE p1b PARTITION OF p1 DEFAULT",
            "CREATE TABLE p2 PARTITION OF p DEFAULT",
            "INSERT INTO a SELECT i, i % 6, i / 8.0, 'ä' || i % 3, DATE '2024-01-01' + i, i * 0.5"
            " FROM generate_series(1, 60) i",
            "INSERT INTO a VALUES (100, NULL, NULL, NULL, NULL, NULL), (60, 0, 7.5, NULL, NULL, 1)",
            "INSERT INTO b SELECT i, 'label ' || i FROM generate_series(0, 14) i",
            "INSERT INTO p SELECT 'r' || i % 4, i % 6, i / 7.0 FROM generate_series(1, 60) i",
            "ANALYZE a",
            "ANALYZE b",
            "ANALYZE p",
        )
        yield ps


@pytest.mark.parametrize("shape", SHAPES)
def test_the_large_path_is_exact(large: PgStream, shape: str) -> None:
    create_exact(large, "st", SHAPES[shape])
    for i, change in enumerate(CHANGES):
        large.execute(change)
        if i % 3 == 2:
            refresh_exact(large, "st")
    refresh_exact(large, "st")
    assert refresh_exact(large, "st", full=True).rows_inserted == 0
    assert (
        large.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'pgstream_state'::regnamespace"
            " AND relname LIKE 'staging%'"
        )
        == []
    )


def test_large_layers(large: PgStream) -> None:
    create_exact(large, "low", SHAPES["join"])
    create_exact(large, "top", "SELECT label, sum(n) AS total FROM low GROUP BY label")
    for change in CHANGES[::2]:
        large.execute(change)
        refresh_exact(large, "top", "low")
    assert_exact(large, "top")
