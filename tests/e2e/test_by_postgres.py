"""What Spark does not compute as PostgreSQL does, PostgreSQL computes over rows handed to it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from helpers import assert_same_text, assert_stays_exact, create_exact, refresh_exact, rows, script
from pgstream.client import PgStream
from pgstream.settings import Settings

TABLES = """
CREATE TABLE t (id int PRIMARY KEY, g int, x int, f double precision, s text);
CREATE TABLE u (tid int, s text);
INSERT INTO t SELECT i, nullif(i % 4, 3), nullif(i % 7, 5), i / 3.0, chr(97 + i % 5)
    FROM generate_series(1, 30) i;
INSERT INTO u SELECT i % 11, chr(98 + i % 4) FROM generate_series(1, 25) i;
"""
QUERIES = {
    "ordered": "SELECT g, string_agg(s, ',' ORDER BY id) AS a, array_agg(x ORDER BY x, id) AS b"
    " FROM t GROUP BY g",
    "distinct": "SELECT g, count(DISTINCT x) AS n, sum(DISTINCT x) AS t FROM t GROUP BY g",
    "within group": "SELECT g, percentile_cont(0.5) WITHIN GROUP (ORDER BY x) AS p,"
    " mode() WITHIN GROUP (ORDER BY s) AS m FROM t GROUP BY g",
    "filtered": "SELECT g, bool_and(x > 0) FILTER (WHERE s <> 'a') AS b, count(*) AS n"
    " FROM t GROUP BY g",
    "no group": "SELECT jsonb_agg(x ORDER BY id) AS j, max(s) AS m FROM t WHERE g = 1",
    "having above": "SELECT g, upper(string_agg(s, '' ORDER BY id)) AS a FROM t GROUP BY g"
    " HAVING length(string_agg(s, '' ORDER BY id)) > 3",
    "nested": "SELECT u.s, q.a FROM u JOIN (SELECT x, string_agg(s, '-' ORDER BY id) AS a FROM t"
    " GROUP BY x) q ON q.x = u.tid",
    "over two tables": "SELECT t.id, upper(t.s || u.s) AS v FROM t JOIN u ON u.tid = t.x"
    " WHERE t.s || u.s ~ '[a-c]b'",
    "above a group": "SELECT q.g, to_char(q.m, '000') AS m, u.s FROM (SELECT g, max(x) AS m"
    " FROM t GROUP BY g) q LEFT JOIN u ON u.tid = q.g",
    "count of nothing": "SELECT t.id, (SELECT string_agg(u.s, ',' ORDER BY u.s) FROM u"
    " WHERE u.tid = t.x) AS a FROM t",
}
CHANGES = (
    "INSERT INTO t VALUES (31, 1, 2, 0, 'z'), (32, 9, NULL, 1, NULL); DELETE FROM t WHERE id = 5",
    "UPDATE t SET g = 2 WHERE id IN (1, 2); UPDATE u SET tid = 3 WHERE tid = 4",
    "UPDATE t SET s = 'q', x = 4 WHERE g = 1; INSERT INTO u VALUES (2, 'm'), (NULL, NULL)",
    "DELETE FROM t; DELETE FROM u WHERE s = 'b'",
    "INSERT INTO t SELECT i, i % 3, i % 5, i, chr(100 + i % 3) FROM generate_series(1, 9) i",
)


@pytest.mark.parametrize("name", QUERIES)
def test_every_change_stays_exact(ps: PgStream, name: str) -> None:
    ps.execute(TABLES)
    assert_stays_exact(ps, QUERIES[name], *CHANGES)


@pytest.mark.usual_way
def test_a_change_reads_only_its_groups(ps: PgStream) -> None:
    script(
        ps,
        "CREATE TABLE big (id int PRIMARY KEY, g int, s text)",
        "CREATE INDEX ON big (g)",
        "INSERT INTO big SELECT i, i % 500, i::text FROM generate_series(1, 5000) i",
    )
    create_exact(ps, "st", "SELECT g, string_agg(s, ',' ORDER BY id) AS a FROM big GROUP BY g")
    ps.execute("UPDATE big SET s = 'new' WHERE id = 7")
    result = refresh_exact(ps, "st")
    assert (result.rows_read, result.rows_inserted, result.rows_deleted) == (10, 1, 1)


def test_elements_without_an_order_come_in_the_same_order_each_time(ps: PgStream) -> None:
    """SQL leaves their order open; a refresh must still find the row it stored."""
    ps.execute(TABLES)
    ps.create_stream_table("st", "SELECT g, array_agg(s) AS a FROM t GROUP BY g")
    for change in CHANGES:
        ps.execute(change)
        ps.refresh_stream_table("st")
        stored = [(g, sorted(a, key=repr)) for g, a in rows(ps, "st")]
        wanted = ps.execute("SELECT g, array_agg(s) FROM t GROUP BY g")
        assert sorted(stored, key=repr) == sorted(
            ((g, sorted(a, key=repr)) for g, a in wanted), key=repr
        )


def test_numerics_keep_their_digits(ps: PgStream) -> None:
    ps.execute("CREATE TABLE n (g int, v numeric)")
    ps.execute("INSERT INTO n VALUES (1, 1.50), (1, 2), (2, 0.001), (2, NULL)")
    query = "SELECT g, array_agg(v ORDER BY v) AS a, json_agg(v ORDER BY v)::text AS j"
    query += " FROM n GROUP BY g"
    create_exact(ps, "st", query)
    ps.execute("INSERT INTO n VALUES (1, 10.25), (3, 7)")
    refresh_exact(ps, "st")
    assert_same_text(ps, "st")


class TestManyRows:
    """Executors write the rows to a table, and read what PostgreSQL made of them."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return replace(settings, small_path_rows=20)

    @pytest.mark.parametrize("name", ["ordered", "within group", "over two tables"])
    def test_every_change_stays_exact(self, ps: PgStream, name: str) -> None:
        ps.execute(TABLES + "INSERT INTO t SELECT i, i % 4, i % 7, i, 'b' FROM"
                   " generate_series(100, 400) i; ANALYZE t; ANALYZE u;")  # fmt: skip
        assert_stays_exact(ps, QUERIES[name], *CHANGES)
        assert left_behind(ps) == []

    def test_a_failure_leaves_no_table(self, ps: PgStream) -> None:
        ps.execute(TABLES + "INSERT INTO t SELECT i, i % 4, i % 7, i, 'b' FROM"
                   " generate_series(100, 400) i; ANALYZE t;")  # fmt: skip
        query = "SELECT g, sum(1 / x) AS s, string_agg(s, ',' ORDER BY id) AS a FROM t GROUP BY g"
        with pytest.raises(Exception, match="division by zero"):
            ps.create_stream_table("st", query)
        assert left_behind(ps) == []


def left_behind(ps: PgStream) -> list[tuple[str]]:
    return ps.execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'pgstream_state'"
        " AND tablename ~ '^(handover|staging)'"
    )
