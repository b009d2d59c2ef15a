"""Aggregates: groups vanish and return, extremes are removed, averages have PostgreSQL's digits."""

from __future__ import annotations

import pytest

from helpers import assert_exact, assert_same_text, create_exact, refresh_exact, rows, script
from pgstream.catalog.records import Action
from pgstream.client import PgStream

ALL = (
    "SELECT g, count(*) AS n, count(x) AS present, sum(x) AS total, avg(x) AS mean,"
    " min(x) AS low, max(x) AS high FROM t GROUP BY g"
)


@pytest.fixture
def t(ps: PgStream) -> PgStream:
    script(
        ps,
        "CREATE TABLE t (id int PRIMARY KEY, g text, x int, p numeric(10,2), d date)",
        "INSERT INTO t SELECT i, (ARRAY['a', 'b', 'c', NULL])[1 + i % 4], nullif(i % 7, 3),"
        " i * 0.35, DATE '2024-01-01' + i FROM generate_series(1, 40) i",
    )
    return ps


@pytest.mark.smoke("algebra", "storage")
def test_groups_vanish_and_return(t: PgStream) -> None:
    create_exact(t, "st", ALL)
    for change in (
        "DELETE FROM t WHERE g = 'a'",
        "DELETE FROM t WHERE g IS NULL",
        "INSERT INTO t VALUES (100, 'a', 5), (101, NULL, NULL)",
        "UPDATE t SET g = 'b'",
        "UPDATE t SET g = 'a' WHERE id % 2 = 0",
        "DELETE FROM t",
        "INSERT INTO t VALUES (1, 'a', 1), (2, 'z', NULL)",
    ):
        t.execute(change)
        assert refresh_exact(t, "st").action is Action.DIFFERENTIAL
        assert_same_text(t, "st")


def test_a_group_of_nulls_has_no_sum(t: PgStream) -> None:
    create_exact(t, "st", ALL)
    t.execute("UPDATE t SET x = NULL WHERE g = 'b'")
    refresh_exact(t, "st")
    assert ("b", 10, 0, None, None, None, None) in rows(t, "st")
    t.execute("UPDATE t SET x = 0 WHERE id = 1")
    refresh_exact(t, "st")


def test_an_empty_table(ps: PgStream) -> None:
    ps.execute("CREATE TABLE t (g text, x int)")
    create_exact(ps, "st", ALL)
    assert rows(ps, "st") == []
    ps.execute("INSERT INTO t VALUES ('a', 1), ('a', 1), (NULL, NULL)")
    refresh_exact(ps, "st")
    ps.execute("DELETE FROM t")
    refresh_exact(ps, "st")
    assert rows(ps, "st") == []


def test_without_group_by_there_is_always_one_row(ps: PgStream) -> None:
    ps.execute("CREATE TABLE t (g text, x int)")
    create_exact(
        ps, "st", "SELECT count(*) AS n, sum(x) AS total, avg(x) AS mean, max(x) AS high FROM t"
    )
    assert rows(ps, "st") == [(0, None, None, None)]
    for change in (
        "INSERT INTO t VALUES ('a', NULL)",
        "INSERT INTO t VALUES ('a', 4), ('b', 7)",
        "DELETE FROM t WHERE x = 7",
        "DELETE FROM t",
        "INSERT INTO t VALUES ('a', -1)",
    ):
        ps.execute(change)
        refresh_exact(ps, "st")
        assert len(rows(ps, "st")) == 1


def test_without_group_by_having_hides_the_row(ps: PgStream) -> None:
    ps.execute("CREATE TABLE t (x int)")
    create_exact(ps, "st", "SELECT sum(x) AS total FROM t HAVING count(*) > 1")
    for change in (
        "INSERT INTO t VALUES (1)",
        "INSERT INTO t VALUES (2)",
        "DELETE FROM t WHERE x = 1",
        "INSERT INTO t VALUES (NULL), (NULL)",
    ):
        ps.execute(change)
        refresh_exact(ps, "st")


def test_having_hides_and_shows_again(t: PgStream) -> None:
    create_exact(
        t, "st", "SELECT g, sum(x) AS total FROM t GROUP BY g HAVING sum(x) > 20 AND count(*) < 12"
    )
    for change in (
        "UPDATE t SET x = 0 WHERE g = 'a' AND x > 3",
        "UPDATE t SET x = 9 WHERE g = 'a' AND x = 0",
        "INSERT INTO t SELECT 100 + i, 'b', 1 FROM generate_series(1, 5) i",
        "DELETE FROM t WHERE id > 103",
        "UPDATE t SET x = NULL",
        "UPDATE t SET x = 50 WHERE id < 5",
    ):
        t.execute(change)
        refresh_exact(t, "st")


def test_having_that_only_postgres_evaluates(t: PgStream) -> None:
    create_exact(
        t,
        "st",
        "SELECT upper(g) AS name, round(avg(p), 2) AS mean, lpad(sum(x)::text, 6, '0') AS shown"
        " FROM t GROUP BY g HAVING round(avg(p), 1) <> 7.0 AND length(upper(g)) = 1",
    )
    for change in (
        "UPDATE t SET p = 7 WHERE g = 'a'",
        "UPDATE t SET p = 7.06 WHERE g = 'a'",
        "DELETE FROM t WHERE g = 'b' AND p > 5",
    ):
        t.execute(change)
        refresh_exact(t, "st")
        assert_same_text(t, "st")


def test_group_by_functions_that_only_postgres_evaluates(t: PgStream) -> None:
    create_exact(
        t,
        "st",
        "SELECT date_trunc('month', d::timestamp) AS month, upper(g) AS name, count(*) AS n,"
        " max(d) AS last FROM t GROUP BY date_trunc('month', d::timestamp), upper(g)",
    )
    for change in (
        "UPDATE t SET d = d + 20 WHERE g = 'a'",
        "UPDATE t SET g = 'A' WHERE g = 'b'",
        "DELETE FROM t WHERE d > DATE '2024-02-20'",
        "INSERT INTO t VALUES (200, 'q', 1, 1, NULL)",
    ):
        t.execute(change)
        refresh_exact(t, "st")


@pytest.mark.parametrize(
    "kind", ["int", "numeric", "date", "bigint", "double precision", "timestamp"]
)
def test_the_extreme_is_removed(ps: PgStream, kind: str) -> None:
    value = "DATE '2024-01-01' + {}" if kind in ("date", "timestamp") else "{}"
    script(
        ps,
        f"CREATE TABLE t (g int, x {kind})",
        f"INSERT INTO t SELECT i % 3, {value.format('i')} FROM generate_series(1, 30) i",
        "INSERT INTO t VALUES (0, NULL), (4, NULL)",
    )
    create_exact(ps, "st", "SELECT g, min(x) AS low, max(x) AS high FROM t GROUP BY g")
    for change in (
        "DELETE FROM t WHERE x = (SELECT max(x) FROM t WHERE g = 0)",
        "DELETE FROM t WHERE x = (SELECT min(x) FROM t)",
        f"INSERT INTO t VALUES (0, {value.format(3)}), (1, {value.format(99)})",
        f"UPDATE t SET x = {value.format(50)} WHERE x = (SELECT min(x) FROM t WHERE g = 2)",
        "UPDATE t SET g = 1 WHERE x = (SELECT max(x) FROM t WHERE g = 2)",
        "DELETE FROM t WHERE g = 0 AND x IS NOT NULL",
        f"INSERT INTO t VALUES (0, {value.format(7)}), (0, {value.format(7)})",
        "DELETE FROM t WHERE ctid = (SELECT max(ctid) FROM t WHERE g = 0)",
    ):
        ps.execute(change)
        refresh_exact(ps, "st")


def test_the_extreme_is_replaced_in_one_window(t: PgStream) -> None:
    create_exact(t, "st", "SELECT g, min(x) AS low, max(p) AS high FROM t GROUP BY g")
    script(
        t,
        "DELETE FROM t WHERE p = (SELECT max(p) FROM t)",
        "INSERT INTO t VALUES (100, 'a', -5, 1000), (101, 'b', NULL, 1)",
        "UPDATE t SET p = p - 100 WHERE p > 10 AND g = 'c'",
    )
    refresh_exact(t, "st")


def test_filter(t: PgStream) -> None:
    create_exact(
        t,
        "st",
        "SELECT g, count(*) FILTER (WHERE x > 2) AS n, sum(x) FILTER (WHERE p < 9) AS total,"
        " avg(p) FILTER (WHERE x IS NULL) AS mean, max(d) FILTER (WHERE x IN (1, 2)) AS last,"
        " min(x) FILTER (WHERE false) AS never FROM t GROUP BY g",
    )
    for change in (
        "UPDATE t SET x = 3 WHERE x = 2",
        "UPDATE t SET p = 100 WHERE g = 'a'",
        "DELETE FROM t WHERE x IS NULL",
        "UPDATE t SET x = NULL WHERE id < 10",
    ):
        t.execute(change)
        refresh_exact(t, "st")


def test_filter_keeps_an_expression_from_failing(ps: PgStream) -> None:
    """Neither a scan nor Spark computes it for a row that FILTER drops."""
    script(
        ps,
        "CREATE TABLE t (id int PRIMARY KEY, g int, x int, y text)",
        "INSERT INTO t SELECT i, i % 4, i % 3, CASE i % 3 WHEN 1 THEN i::text ELSE 'no' END"
        " FROM generate_series(1, 40) i",
    )
    create_exact(
        ps,
        "st",
        "SELECT g, sum(10.0 / x) FILTER (WHERE x <> 0) AS a, count(DISTINCT 10 / x)"
        " FILTER (WHERE x <> 0) AS b, max(y::int) FILTER (WHERE x = 1) AS c, avg(y::numeric)"
        " FILTER (WHERE x = 1) AS d, count(DISTINCT y::int) FILTER (WHERE x = 1) AS e"
        " FROM t GROUP BY g",
    )
    script(
        ps,
        "INSERT INTO t VALUES (100, 1, 0, 'no'), (101, 1, 1, '77')",
        "DELETE FROM t WHERE id < 9",
    )
    assert refresh_exact(ps, "st").action is Action.DIFFERENTIAL


def test_group_by_expression_position_and_name(t: PgStream) -> None:
    create_exact(
        t, "by_expression", "SELECT x * 2 + 1 AS y, count(*) AS n FROM t GROUP BY x * 2 + 1"
    )
    create_exact(t, "by_position", "SELECT p > 5 AS big, g, sum(p) AS total FROM t GROUP BY 1, 2")
    create_exact(t, "by_name", "SELECT coalesce(g, '-') AS name, avg(p) AS m FROM t GROUP BY name")
    create_exact(t, "by_key", "SELECT id, g, x, count(*) AS n FROM t GROUP BY id")
    create_exact(t, "hidden", "SELECT count(*) AS n FROM t GROUP BY g, x")
    create_exact(t, "distinct_groups", "SELECT g FROM t GROUP BY g")
    names = ("by_expression", "by_position", "by_name", "by_key", "hidden", "distinct_groups")
    for change in (
        "UPDATE t SET x = x + 1, p = 10 - p WHERE id % 3 = 0",
        "UPDATE t SET g = NULL WHERE g = 'a'",
        "DELETE FROM t WHERE id > 20",
        "UPDATE t SET g = 'new', x = NULL WHERE id = 8",
    ):
        t.execute(change)
        for name in names:
            refresh_exact(t, name)


def test_averages_have_the_digits_of_postgres(ps: PgStream) -> None:
    script(
        ps,
        "CREATE TABLE t (g int, i int, b bigint, s smallint, n numeric, m numeric(12,4))",
        "INSERT INTO t SELECT k % 5, k, k * 1000000007::bigint, k % 9, round(k / 7.0, k % 9),"
        " k / 3.0 FROM generate_series(1, 60) k",
        "INSERT INTO t VALUES (7, 1, 1, 1, 0.01, 0.0001), (7, 2, 2, 2, 0, 0), (7, 0, 0, 0, 0, 0)",
        "INSERT INTO t VALUES (8, 2000000000, 9000000000000000000, 32767, 1e12, 99999999.9999)",
    )
    create_exact(
        ps,
        "st",
        "SELECT g, avg(i) AS i, avg(b) AS b, avg(s) AS s, avg(n) AS n, avg(m) AS m, sum(b) AS sb,"
        " sum(m) AS sm FROM t GROUP BY g",
    )
    create_exact(ps, "loose", "SELECT g, sum(n) AS sn, min(n) AS low FROM t GROUP BY g")
    assert_same_text(ps, "st")
    for change in (
        "DELETE FROM t WHERE i % 4 = 0",
        "UPDATE t SET n = n + 0.5, m = -m WHERE g < 3",
        "INSERT INTO t VALUES (8, 2000000000, 9000000000000000000, 32767, 1e12, 99999999.9999)",
    ):
        ps.execute(change)
        refresh_exact(ps, "st")
        assert_same_text(ps, "st")
        refresh_exact(ps, "loose")  # displays the scale of the column, not of the group


@pytest.mark.parametrize("size", [3, 150])
def test_averages_below_another_query(ps: PgStream, size: int) -> None:
    """Spark divides here, not PostgreSQL: 0.01 over 150 rows needs 24 decimals."""
    small_averages(ps, size, "0.01")
    ps.execute("INSERT INTO t VALUES (1, 0.02), (2, 0), (3, 0)")
    refresh_exact(ps, "st")


def test_averages_with_too_many_digits_are_never_rounded(ps: PgStream) -> None:
    """PostgreSQL divides."""
    small_averages(ps, 30, "0.0000000001")
    ps.execute("INSERT INTO t VALUES (1, 0.02), (2, 0), (3, 0)")
    refresh_exact(ps, "st")


def small_averages(ps: PgStream, size: int, value: str) -> None:
    script(
        ps,
        "CREATE TABLE t (g int, m numeric)",
        f"INSERT INTO t SELECT g, 0 FROM generate_series(1, {size}) i, generate_series(1, 3) g",
        f"INSERT INTO t VALUES (1, {value}), (2, -0.0007), (3, 12345678.1)",
    )
    create_exact(
        ps,
        "st",
        "SELECT q.g, q.mean FROM (SELECT g, avg(m) AS mean FROM t GROUP BY g) q JOIN"
        " (SELECT 1 AS g UNION ALL SELECT 2 UNION ALL SELECT 3) k ON k.g = q.g",
    )


def test_float_sums(ps: PgStream) -> None:
    script(
        ps,
        "CREATE TABLE t (g int, x double precision, y real)",
        "INSERT INTO t SELECT i % 3, i * 0.25, i * 0.5 FROM generate_series(1, 30) i",
        "INSERT INTO t VALUES (9, NULL, NULL), (8, 1e100, 1e30)",
    )
    create_exact(
        ps,
        "st",
        "SELECT g, sum(x) AS sx, avg(x) AS ax, sum(y) AS sy, avg(y) AS ay, min(x) AS low,"
        " max(y) AS high, count(x) AS n FROM t GROUP BY g",
    )
    for change in (
        "UPDATE t SET x = x + 0.125 WHERE g = 1",
        "DELETE FROM t WHERE g = 2",
        "INSERT INTO t VALUES (8, 1, 1), (9, 0.5, 0.5)",
        "DELETE FROM t WHERE x = 1e100",
        "INSERT INTO t VALUES (5, 'Infinity', 'NaN')",
        "DELETE FROM t WHERE g = 5",
    ):
        ps.execute(change)
        refresh_exact(ps, "st")


def test_aggregate_over_a_grouped_subquery(t: PgStream) -> None:
    create_exact(
        t,
        "st",
        "SELECT q.n, count(*) AS groups, sum(q.total) AS total, max(q.mean) AS high"
        " FROM (SELECT g, x, count(*) AS n, sum(p) AS total, avg(p) AS mean FROM t GROUP BY g, x) q"
        " GROUP BY q.n",
    )
    create_exact(
        t,
        "scalar",
        "SELECT max(n) AS most, avg(n) AS mean FROM (SELECT count(*) AS n FROM t GROUP BY g) q",
    )
    for change in (
        "UPDATE t SET x = 1 WHERE g = 'a'",
        "DELETE FROM t WHERE g = 'b'",
        "INSERT INTO t VALUES (100, 'b', 1, 3.33, NULL), (101, NULL, NULL, NULL, NULL)",
        "DELETE FROM t",
    ):
        t.execute(change)
        refresh_exact(t, "st")
        refresh_exact(t, "scalar")


def test_union_all_of_aggregates(t: PgStream) -> None:
    create_exact(
        t,
        "st",
        "SELECT g, count(*) AS n FROM t GROUP BY g UNION ALL SELECT 'all', count(*) FROM t"
        " UNION ALL SELECT g, x FROM t WHERE x > 4",
    )
    for change in ("DELETE FROM t WHERE g = 'a'", "UPDATE t SET x = 6", "DELETE FROM t"):
        t.execute(change)
        refresh_exact(t, "st")


@pytest.mark.usual_way
def test_sums_need_no_reading(t: PgStream) -> None:
    create_exact(
        t, "st", "SELECT g, count(*) AS n, sum(x) AS total, avg(p) AS mean FROM t GROUP BY g"
    )
    t.execute("UPDATE t SET x = x + 1, p = 3 WHERE id % 2 = 0")
    assert refresh_exact(t, "st").rows_read == 0
    assert_exact(t, "st")


def test_domains_and_enums(ps: PgStream) -> None:
    script(
        ps,
        "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')",
        "CREATE DOMAIN price AS numeric(8,2) CHECK (VALUE >= 0)",
        "CREATE TABLE t (m mood, p price)",
        "INSERT INTO t VALUES ('sad', 1), ('ok', 2.5), ('sad', NULL), (NULL, 3)",
    )
    create_exact(ps, "st", "SELECT m, count(*) AS n, sum(p) AS total FROM t GROUP BY m")
    create_exact(ps, "plain", "SELECT m, p FROM t WHERE p > 1")
    for change in ("UPDATE t SET m = 'happy' WHERE p = 1", "DELETE FROM t WHERE m IS NULL",
                   "INSERT INTO t VALUES ('ok', 7)"):  # fmt: skip
        ps.execute(change)
        refresh_exact(ps, "st")
        refresh_exact(ps, "plain")
