"""Numerics that Spark does not hold: NaN, infinity, more than 38 digits.

What nothing on Spark reads travels as text, with every digit and trailing zero. Where Spark would
compute on such a value, PostgreSQL does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from helpers import assert_same_text, create_exact, refresh_exact, script
from pgstream.catalog.records import Action
from pgstream.client import PgStream
from pgstream.errors import NumericRange
from pgstream.settings import Settings

LONG, LONGER, LONGEST = "1" * 39, "9" * 30 + "." + "8" * 30, "7" * 100 + "." + "3" * 100
SMALL = "0." + "0" * 59 + "1"
STRANGE = ["NaN", "Infinity", "-Infinity", LONG, "-" + LONGER, LONGEST, SMALL]
BY_POSTGRES = "PostgreSQL computes on numerics"

TABLES = (
    "CREATE TABLE t (id int PRIMARY KEY, k int, x numeric, y numeric(50, 10), z numeric(5, -2),"
    " s numeric(60, 45));"
    " CREATE TABLE u (k int, x numeric, v numeric(12, 3))",
    "INSERT INTO t VALUES (1, 1, 1.50, 1.23456, 12345, 0), (2, 1, 1.5, 2.25, NULL, NULL),"
    " (3, 2, 0.000, 0, -150, 1e-45), (4, 2, NULL, NULL, 100, 1.5), (5, 3, 100, 100, 0, 100)",
    "INSERT INTO u VALUES (1, 1.500, 1.5), (2, 100.0, 100), (3, NULL, NULL), (1, 7, 7)",
)
THEY_COME = (
    "INSERT INTO t SELECT 10 + i, i % 4, x::numeric, CASE WHEN i IN (1, 4) THEN x::numeric END"
    f" FROM unnest(ARRAY{STRANGE}) WITH ORDINALITY AS given(x, i);"
    " INSERT INTO u VALUES (1, 'NaN', NULL), (2, 'Infinity', 'NaN'),"
    f" (3, {LONG}, NULL), (0, -{LONGER}, 5)"
)
# Only zeros change; strange values take each other's place, or become ordinary ones.
THEY_CHANGE = (
    "UPDATE t SET x = 1.5 WHERE id = 1; UPDATE t SET x = 1.500 WHERE id = 2;"
    " UPDATE t SET x = 0, y = 'NaN' WHERE id = 3; UPDATE t SET x = '-Infinity' WHERE x = 'NaN';"
    " UPDATE u SET x = 1.50 WHERE x = 'NaN'; UPDATE t SET k = k + 1 WHERE id > 12;"
    f" DELETE FROM u WHERE x = {LONG}; INSERT INTO t (id, k, x) VALUES (30, 1, 1.5)"
)
THEY_GO = "DELETE FROM t WHERE id > 5; DELETE FROM u WHERE abs(x) > 1000; UPDATE t SET y = 1.25"
CHANGES = (THEY_COME, THEY_CHANGE, THEY_GO)

CARRIED = (
    "SELECT * FROM t",
    "SELECT t.id, t.x, t.y, t.z, t.s, u.v, coalesce(u.v, 0) AS c, CASE WHEN t.id > 3 THEN t.x END"
    " FROM t LEFT JOIN u ON u.k = t.k WHERE t.x IS NOT NULL",
    "SELECT v AS x, k FROM u UNION ALL SELECT y, k FROM t UNION ALL SELECT x, NULL FROM t",
    "SELECT id, x, row_number() OVER (PARTITION BY k ORDER BY id) AS place,"
    " (SELECT o.x FROM t o WHERE o.id = t.k) AS only FROM t",
    "SELECT * FROM t ORDER BY x DESC NULLS LAST, id LIMIT 4",
)  # fmt: skip
COMPUTED = (
    "SELECT k, sum(x) AS total, avg(x) AS mean, min(x) AS low, max(y) AS high, count(x) AS n,"
    " avg(k) AS middle, sum(id) FILTER (WHERE x > 1) AS ids, stddev(x) AS d FROM t GROUP BY k",
    "SELECT x, count(*) AS n, x + 1 AS more FROM t WHERE x <> 7 GROUP BY x",
    "(SELECT x FROM t EXCEPT SELECT x FROM u) UNION"
    " (SELECT v FROM u INTERSECT ALL SELECT y FROM t)",
    "SELECT t.id, u.x, t.x + u.v AS added, greatest(t.y, u.v) AS g FROM t JOIN u ON u.x = t.x",
    "SELECT t.id, t.x * u.x AS times, t.x / u.x AS part FROM t LEFT JOIN u"
    " ON u.k = t.k WHERE u.x <> 0 OR u.v = t.y",
    "SELECT id, rank() OVER (ORDER BY x) AS place, sum(x) OVER (PARTITION BY k) AS total,"
    " lag(x) OVER (ORDER BY id) AS before, avg(id) OVER (PARTITION BY x) AS mean FROM t",
    "SELECT id, x FROM t WHERE x IN (SELECT x FROM u) OR y > ALL (SELECT v FROM u)",
    "SELECT q.total, count(*) AS n, max(u.v) AS v FROM"
    " (SELECT k, sum(x) AS total FROM t GROUP BY k) q JOIN u ON u.k = q.k GROUP BY q.total",
    "WITH RECURSIVE r(k, x) AS (SELECT k, x FROM t UNION SELECT r.k + 1, u.x + r.x FROM r"
    " JOIN u ON u.k = r.k WHERE r.k < 3) SELECT k, max(x) AS most FROM r GROUP BY k",
)  # fmt: skip


def create_all(ps: PgStream, queries: Iterable[str], **options: str) -> list[str]:
    script(ps, *TABLES)
    names = []
    for i, query in enumerate(queries):
        names.append(f"st_{i}")
        create_exact(ps, names[-1], query, **options)
    return names


def test_what_nothing_reads_keeps_every_digit(ps: PgStream) -> None:
    names = create_all(ps, CARRIED)
    for change in CHANGES:
        ps.execute(change)
        for name in names:
            result = refresh_exact(ps, name)
            assert_same_text(ps, name)
            assert result.action is Action.DIFFERENTIAL
            assert BY_POSTGRES not in result.reason


def test_postgresql_computes_what_is_beyond_spark(ps: PgStream) -> None:
    names = create_all(ps, COMPUTED)
    for change in CHANGES:
        ps.execute(change)
        for name in names:
            result = refresh_exact(ps, name)
            moved = change == THEY_COME
            assert result.action is (Action.FULL if moved else Action.DIFFERENTIAL)
            assert BY_POSTGRES in result.reason
    for name in names[:2]:  # all that is stored is made anew: Spark may try again
        assert refresh_exact(ps, name, full=True).reason == "asked for"
    ps.execute("UPDATE t SET x = x + 1; INSERT INTO t (id, k, x) VALUES (40, 1, 1.5)")
    for name in names[:2]:
        assert BY_POSTGRES not in refresh_exact(ps, name).reason


def test_they_are_there_from_the_start(ps: PgStream) -> None:
    script(ps, *TABLES, THEY_COME)
    for i, query in enumerate(COMPUTED[:2]):
        created = create_exact(ps, f"st_{i}", query)
        assert created is not None
        assert created.reason == f"first population; {BY_POSTGRES}"
    create_exact(ps, "in_full", COMPUTED[0], refresh_mode="FULL")
    ps.execute(THEY_CHANGE)
    for name in ("st_0", "st_1", "in_full"):
        refresh_exact(ps, name)


@pytest.fixture
def large(database: str, spark: object) -> Iterator[PgStream]:
    """Executors read slices."""
    settings = Settings(
        differential_max_change_ratio=0.0, min_schedule_seconds=1, small_path_rows=2, read_slices=2
    )
    with PgStream(database, spark, settings=settings) as ps:
        yield ps


def test_executors_read_them(large: PgStream) -> None:
    names = create_all(large, (CARRIED[0], "SELECT k, sum(x) AS s, min(y) AS y FROM t GROUP BY k"))
    large.execute(THEY_COME)
    for name in names:
        refresh_exact(large, name)
    assert_same_text(large, names[0])
    assert large.execute(
        "SELECT relname FROM pg_class WHERE relname ~ '^(staging|handover)_' AND relkind = 'r'"
    ) == []  # fmt: skip


def test_layers_see_the_digits_that_are_shown(ps: PgStream) -> None:
    """Spark gives a sum as many zeros as its neighbours have; a reader must remove just that."""
    script(ps, *TABLES)
    create_exact(ps, "sums", "SELECT t.id, t.k, t.x + u.x AS s FROM t JOIN u ON u.k = t.k")
    create_exact(ps, "carried", "SELECT id, s, count(*) OVER (PARTITION BY k) AS n FROM sums")
    create_exact(ps, "most", "SELECT t.k, max(c.s) AS s, count(DISTINCT c.s) AS n"
                 " FROM carried c JOIN t USING (id) GROUP BY t.k")  # fmt: skip
    for change in (
        "UPDATE t SET x = 2 WHERE id = 2; DELETE FROM u WHERE x = 1.5; UPDATE u SET x = 3",
        *CHANGES,
    ):
        ps.execute(change)
        refresh_exact(ps, "most", "sums", "carried")


def test_what_postgresql_cannot_take_over_is_an_error(ps: PgStream) -> None:
    script(ps, *TABLES)
    create_exact(ps, "st", "SELECT t.id, u.k FROM t LEFT JOIN u ON u.x < t.x")
    ps.execute("INSERT INTO t (id, k, x) VALUES (6, 1, 'NaN')")
    with pytest.raises(NumericRange) as raised:
        ps.refresh_stream_table("st")
    assert "outer join" in str(raised.value.detail)
    ps.execute("DELETE FROM t WHERE id = 6; INSERT INTO t (id, k, x) VALUES (7, 1, 8)")
    refresh_exact(ps, "st")


def test_the_rows_of_a_recursive_cte_are_computed_again(ps: PgStream) -> None:
    """Spark has read the stored ones when it meets a sum that it does not hold."""
    script(
        ps,
        "CREATE TABLE e (a int, b int, x numeric(38, 0))",
        "INSERT INTO e VALUES (0, 1, 1), (1, 2, 2), (5, 6, 3)",
    )
    create_exact(
        ps,
        "st",
        "WITH RECURSIVE r(a, x) AS (SELECT b, x FROM e WHERE a = 0"
        " UNION SELECT e.b, e.x FROM e JOIN r ON e.a = r.a) SELECT sum(x) AS total FROM r",
    )
    ps.execute(f"INSERT INTO e VALUES (2, 3, {9 * 10**37}), (2, 4, {9 * 10**37})")
    result = refresh_exact(ps, "st")
    assert result.action is Action.FULL
    assert BY_POSTGRES in result.reason
    ps.execute("DELETE FROM e WHERE b = 2")
    refresh_exact(ps, "st")
