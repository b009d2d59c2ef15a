"""Window functions through every kind of change, by Spark and by PostgreSQL."""

from __future__ import annotations

import pytest

from helpers import assert_all_stay_exact, create_exact, refresh_exact, script
from pgstream.client import PgStream
from pgstream.errors import PgStreamError

TABLES = """
CREATE TABLE t (id int PRIMARY KEY, g int, x int, n numeric, d date, s text);
INSERT INTO t SELECT i, nullif(i % 4, 3), nullif(i % 6, 5), i / 4.0, DATE '2024-01-01' + i % 9,
    chr(97 + i % 5) FROM generate_series(1, 24) i;
"""
ON_SPARK = {
    "numbers": "SELECT id, row_number() OVER (PARTITION BY g ORDER BY x, id) AS a,"
    " ntile(3) OVER (ORDER BY id) AS b, lag(x, 2, -1) OVER (PARTITION BY g ORDER BY id) AS c,"
    " lead(s) OVER (ORDER BY id DESC) AS d FROM t",
    "ranks": "SELECT id, rank() OVER (PARTITION BY g ORDER BY x) AS a, dense_rank() OVER w AS b,"
    " percent_rank() OVER w AS c, cume_dist() OVER w AS d FROM t"
    " WINDOW w AS (ORDER BY x DESC NULLS LAST)",
    "totals": "SELECT id, sum(x) OVER (PARTITION BY g) AS a, avg(x) OVER (PARTITION BY g ORDER BY"
    " id) AS b, count(x) FILTER (WHERE x > 1) OVER (ORDER BY d) AS c,"
    " max(d) OVER (PARTITION BY s) AS e, min(x) OVER () AS f FROM t",
    "rows": "SELECT id, sum(x) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING) AS a,"
    " first_value(s) OVER (PARTITION BY g ORDER BY id) AS b, last_value(x) OVER (PARTITION BY g"
    " ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS c, nth_value(x, 2) OVER"
    " (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS d FROM t",
    "defaults": "SELECT id, lead(x, 1, 1.5) OVER w AS a, lag(x, 1, n) OVER w AS b,"
    " lag(n, 2, x) OVER w AS c, lead(x, 0, 7) OVER w AS d, lag(s, 1, s || '!') OVER w AS e,"
    " lag(x, 2147483647, -7) OVER w AS f, ntile(2147483647) OVER w AS g FROM t"
    " WINDOW w AS (PARTITION BY g ORDER BY id)",
    "in expressions": "SELECT id, 100 * x / nullif(sum(x) OVER (PARTITION BY g), 0) AS a,"
    " CASE WHEN rank() OVER (ORDER BY x, id) < 4 THEN 'top' ELSE s END AS b FROM t",
    "over an outer join": "SELECT a.id, b.x, count(*) OVER (PARTITION BY b.g) AS n FROM t a"
    " LEFT JOIN t b ON b.id = a.x AND b.g > 0",
    "first per group": "SELECT g, id FROM (SELECT g, id, row_number() OVER (PARTITION BY g"
    " ORDER BY x DESC, id) AS n FROM t) q WHERE n <= 2",
    "over groups": "SELECT g, sum(x) AS s, rank() OVER (ORDER BY sum(x) DESC NULLS LAST, g) AS r"
    " FROM t GROUP BY g",
    "below a group": "SELECT r, count(*) AS n FROM (SELECT rank() OVER (PARTITION BY g ORDER BY x)"
    " AS r FROM t) q GROUP BY r",
}
BY_POSTGRES = {
    "groups": "SELECT id, sum(x) OVER (PARTITION BY g ORDER BY x GROUPS BETWEEN 1 PRECEDING AND"
    " CURRENT ROW) AS a FROM t",
    "range": "SELECT id, sum(x) OVER (ORDER BY d RANGE BETWEEN '2 days' PRECEDING AND"
    " CURRENT ROW) AS a FROM t",
    "exclude": "SELECT id, sum(x) OVER (w RANGE UNBOUNDED PRECEDING EXCLUDE TIES) AS a,"
    " count(*) OVER (w RANGE UNBOUNDED PRECEDING EXCLUDE CURRENT ROW) AS b FROM t"
    " WINDOW w AS (PARTITION BY g ORDER BY x)",
    "offsets": "SELECT id, ntile(g + 1) OVER w AS a, lag(x, x) OVER w AS b,"
    " lead(x, -1, 3) OVER w AS c, nth_value(x, nullif(x, 0)) OVER w AS d,"
    " ntile(NULL) OVER w AS e, lag(x, NULL) OVER w AS f,"
    " sum(x) OVER (w ROWS BETWEEN 3000000000 PRECEDING AND 1 + 1 FOLLOWING) AS h,"
    " max(n) OVER (w ROWS 9223372036854775807 PRECEDING) AS i,"
    " count(*) OVER (w RANGE BETWEEN 3000000000 PRECEDING AND length('ab') FOLLOWING) AS j"
    " FROM t WINDOW w AS (PARTITION BY g ORDER BY id)",
    "average of numerics": "SELECT id, avg(n) OVER (PARTITION BY g ORDER BY id) AS a FROM t",
    "other aggregates": "SELECT id, string_agg(s, ',') OVER (PARTITION BY g ORDER BY id) AS a,"
    " bool_or(x > 3) OVER (PARTITION BY g) AS b FROM t",
}
CHANGES = (
    "INSERT INTO t VALUES (30, 1, 2, 0.5, '2024-01-03', 'q'), (31, NULL, NULL, NULL, NULL, NULL)",
    "UPDATE t SET x = 4 WHERE id IN (3, 9); UPDATE t SET s = 'zz', n = 7.25 WHERE id = 8",
    "UPDATE t SET g = 2 WHERE g = 1; UPDATE t SET g = NULL WHERE id = 2",
    "DELETE FROM t WHERE id % 5 = 0; INSERT INTO t VALUES (40, 5, 5, 1, '2024-01-09', 'n')",
    "DELETE FROM t",
    "INSERT INTO t SELECT i, i % 3, i % 4, i, DATE '2024-02-01' + i, 'b' FROM"
    " generate_series(1, 9) i",
)


@pytest.mark.parametrize("queries", [ON_SPARK, BY_POSTGRES], ids=["spark", "postgres"])
def test_windows_stay_exact(ps: PgStream, queries: dict[str, str]) -> None:
    ps.execute(TABLES)
    assert_all_stay_exact(ps, queries.values(), CHANGES)
    for i, query in enumerate(queries.values()):
        assert ("ByPostgres" in operators(ps, f"st_{i}")) is (queries is BY_POSTGRES), query


FAILING = {
    "ntile(0) OVER w": "argument of ntile must be greater than zero",
    "ntile(x - 3) OVER w": "argument of ntile must be greater than zero",
    "nth_value(x, 0) OVER w": "argument of nth_value must be greater than zero",
    "sum(x) OVER (w ROWS -1 PRECEDING)": "frame starting offset must not be negative",
    "sum(x) OVER (w ROWS BETWEEN CURRENT ROW AND NULL FOLLOWING)": "must not be null",
    "sum(x) OVER (w ROWS (SELECT 1) PRECEDING)": "A frame whose offset is a subquery",
}


def test_offsets_fail_as_in_postgresql(ps: PgStream) -> None:
    ps.execute(TABLES)
    for call, message in FAILING.items():
        with pytest.raises(PgStreamError, match=message):
            ps.create_stream_table("st", f"SELECT id, {call} AS v FROM t WINDOW w AS (ORDER BY id)")


@pytest.mark.usual_way
def test_a_change_reads_only_its_partition(ps: PgStream) -> None:
    script(
        ps,
        "CREATE TABLE big (id int PRIMARY KEY, g int, x int)",
        "CREATE INDEX ON big (g)",
        "INSERT INTO big SELECT i, i % 500, i FROM generate_series(1, 5000) i",
    )
    create_exact(ps, "st", "SELECT id, rank() OVER (PARTITION BY g ORDER BY x) AS r FROM big")
    ps.execute("UPDATE big SET g = 8 WHERE id = 7")
    result = refresh_exact(ps, "st")
    assert result.rows_read == 20  # the partition it leaves and the one it enters, as they are


def test_rows_that_the_order_does_not_tell_apart_are_found_again(ps: PgStream) -> None:
    """SQL leaves their numbers open; a refresh must still find the rows it stored."""
    ps.execute("CREATE TABLE d (g int, v text)")
    ps.execute("INSERT INTO d SELECT i % 2, chr(97 + i % 3) FROM generate_series(1, 12) i")
    query = "SELECT v, row_number() OVER w AS n, last_value(v) OVER w AS l FROM d"
    ps.create_stream_table("st", f"{query} WINDOW w AS (PARTITION BY g ORDER BY g)")
    for change in ("INSERT INTO d VALUES (0, 'b'), (1, 'z')", "DELETE FROM d WHERE v = 'a'"):
        ps.execute(change)
        ps.refresh_stream_table("st")
        numbers = "SELECT n FROM st EXCEPT ALL SELECT row_number() OVER (PARTITION BY g) FROM d"
        assert ps.execute(numbers) == []


def operators(ps: PgStream, name: str) -> str:
    return dict(ps.explain(name))["Operator Tree"]
