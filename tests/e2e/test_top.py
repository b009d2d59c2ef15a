"""ORDER BY … LIMIT at the top: the first rows, through every kind of change.

Every order is total, so that PostgreSQL's own answer is the only one.
"""

from __future__ import annotations

import pytest

from helpers import create_exact, refresh_exact, rows, script
from pgstream.client import PgStream
from pgstream.errors import IntegrityError, UnsupportedConstruct
from pgstream.settings import Settings

QUERIES = {
    "first": "SELECT id, x FROM a ORDER BY x, id LIMIT 3",
    "last": "SELECT id, x FROM a ORDER BY x DESC, id DESC LIMIT 3",
    "nulls first": "SELECT id, x FROM a ORDER BY x NULLS FIRST, id LIMIT 4",
    "nulls last": "SELECT id, x FROM a ORDER BY x DESC NULLS LAST, id LIMIT 4",
    "offset": "SELECT id, x FROM a ORDER BY x, id LIMIT 3 OFFSET 2",
    "offset beyond the end": "SELECT id FROM a ORDER BY id LIMIT 3 OFFSET 30",
    "none": "SELECT id FROM a ORDER BY id LIMIT 0 OFFSET 2",
    "more than there are": "SELECT id, x FROM a ORDER BY x, id LIMIT 100",
    "fetch first": "SELECT id FROM a ORDER BY id DESC OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY",
    "computed limit": "SELECT id FROM a ORDER BY id DESC LIMIT 1 + 2 OFFSET 2 - 1",
    "whole rows": "SELECT x, s FROM a ORDER BY x, s LIMIT 4",
    "hidden key": "SELECT s FROM a ORDER BY abs(x - 3), id LIMIT 3",
    "hidden keys of two tables": "SELECT a.s FROM a JOIN b ON a.id = b.a ORDER BY b.y, a.x, b.id"
    " LIMIT 3",
    "renamed": "SELECT id AS x, x AS id FROM a ORDER BY a.x, a.id LIMIT 3",
    "groups that exchange names": "SELECT s AS x, count(*) AS s FROM a GROUP BY a.s"
    " ORDER BY 1 DESC NULLS LAST, 2 LIMIT 2",
    "hidden keys only": "SELECT true AS t FROM a JOIN b ON b.a = a.id WHERE b.y > 0"
    " ORDER BY b.id, a.id LIMIT 3",
    "hidden and renamed": "SELECT count(*) AS x FROM a GROUP BY a.x ORDER BY a.x DESC, 1 LIMIT 3",
    "names": "SELECT id AS copies, x AS number, s AS generate_series FROM a"
    " ORDER BY number, copies LIMIT 3",
    "collation": 'SELECT s, id FROM a ORDER BY s COLLATE "POSIX", id LIMIT 4',
    "collation of a column": "SELECT i, id FROM a ORDER BY i DESC, id LIMIT 4",
    "hidden collation": "SELECT id FROM a ORDER BY (i || 'x') DESC, id LIMIT 4",
    "join": "SELECT a.id, b.id AS b, a.x + b.y AS z FROM a JOIN b ON b.a = a.id"
    " ORDER BY z DESC, 1, 2 LIMIT 3",
    "left join": "SELECT a.id, b.id AS b FROM a LEFT JOIN b ON b.a = a.id"
    " ORDER BY b.y NULLS FIRST, a.id, b.id LIMIT 4",
    "groups": "SELECT s, sum(x) AS total FROM a GROUP BY s ORDER BY total DESC, s LIMIT 2",
    "groups by a hidden key": "SELECT s FROM a GROUP BY s HAVING count(*) > 0"
    " ORDER BY max(x) NULLS FIRST, s DESC LIMIT 2 OFFSET 1",
    "average": "SELECT s, avg(x) AS mean FROM a GROUP BY s ORDER BY avg(x), s LIMIT 2",
    "one group": "SELECT count(*) AS n FROM a ORDER BY n LIMIT 1",
    "distinct": "SELECT DISTINCT x, s FROM a ORDER BY x DESC NULLS LAST, s LIMIT 3",
    "union all": "SELECT x AS v, id FROM a UNION ALL SELECT y, id FROM b ORDER BY 1, 2 LIMIT 4",
    "union": "SELECT x AS v FROM a UNION SELECT y FROM b ORDER BY v DESC LIMIT 3",
    "except all": "SELECT x FROM a EXCEPT ALL SELECT y FROM b ORDER BY x NULLS FIRST LIMIT 4",
    "above a group": "SELECT q.s, q.n FROM (SELECT s, count(*) AS n FROM a GROUP BY s) q"
    " JOIN b ON b.y = q.n ORDER BY q.n, q.s, b.id LIMIT 3",
    "cte": "WITH q AS (SELECT id, x FROM a WHERE x > 1) SELECT * FROM q ORDER BY x, id LIMIT 3",
    "picked": "SELECT id FROM (SELECT id, x FROM a ORDER BY x DESC, id LIMIT 3) q",
}
CHANGES = (
    "INSERT INTO a VALUES (11, 0, 'first', 'é'), (12, 99, 'last', 'z'), (13, 3, 'b', 'E')",
    "DELETE FROM a WHERE id IN (1, 11); INSERT INTO b VALUES (7, 3, 2)",
    "UPDATE a SET x = 50 - x; UPDATE b SET y = 5 - y",
    "UPDATE a SET x = NULL, s = 'ä' WHERE id = 2; UPDATE a SET x = 4 WHERE x IS NULL AND id > 5",
    "INSERT INTO a SELECT i, 3, 'b', 'B' FROM generate_series(20, 26) i; DELETE FROM b WHERE y < 2",
    "DELETE FROM a; DELETE FROM b",
    "INSERT INTO a VALUES (1, 1, 'x', 'x')",
    "INSERT INTO a SELECT i, i % 5, chr(97 + i % 3), 'w' FROM generate_series(30, 40) i;"
    " INSERT INTO b SELECT i, 30 + i, i % 4 FROM generate_series(1, 8) i; DELETE FROM a WHERE x = 1"
    " AND id = 1",
)


@pytest.fixture
def tables(ps: PgStream) -> PgStream:
    script(
        ps,
        'CREATE TABLE a (id int PRIMARY KEY, x int, s text, i text COLLATE "POSIX")',
        "CREATE TABLE b (id int PRIMARY KEY, a int, y int)",
        "INSERT INTO a VALUES (1, 2, 'a', 'a'), (2, 2, 'B', 'B'), (3, 3, 'b', 'A'),"
        " (4, 5, 'a', 'b'), (5, 8, 'Ä', 'Ä'), (6, NULL, 'c', NULL), (7, 1, 'c', 'ä')",
        "INSERT INTO b VALUES (1, 1, 1), (2, 1, 2), (3, 2, 1), (4, 5, 0), (5, 7, 3), (6, 9, 1)",
    )
    return ps


@pytest.fixture
def numbers(ps: PgStream) -> PgStream:
    """The rows 10, 20, … 100."""
    script(
        ps,
        "CREATE TABLE t (id int PRIMARY KEY, x int)",
        "INSERT INTO t SELECT i, i * 10 FROM generate_series(1, 10) i",
    )
    return ps


@pytest.mark.parametrize("name", QUERIES)
def test_the_first_rows_stay_exact(tables: PgStream, name: str) -> None:
    create_exact(tables, "st", QUERIES[name])
    create_exact(tables, "st_full", QUERIES[name], refresh_mode="FULL")
    for change in CHANGES:
        tables.execute(change)
        result = refresh_exact(tables, "st")
        assert result.action in ("DIFFERENTIAL", "NO_DATA")
    refresh_exact(tables, "st_full")
    refresh_exact(tables, "st", full=True)
    assert tables.verify("st").exact


# --- what is read ---------------------------------------------------------------------------


@pytest.mark.usual_way
def test_the_input_is_read_only_when_the_boundary_moves_inwards(numbers: PgStream) -> None:
    create_exact(numbers, "st", "SELECT id, x FROM t ORDER BY x LIMIT 3")

    def counts(change: str) -> tuple[int, int, int]:
        numbers.execute(change)
        result = refresh_exact(numbers, "st")
        assert result.action == "DIFFERENTIAL"
        moved = "the boundary moved" in result.reason
        assert moved == (result.rows_read > 0), result.reason
        return result.rows_read, result.rows_inserted, result.rows_deleted

    assert counts("INSERT INTO t VALUES (11, 15)") == (0, 1, 1)
    assert counts("INSERT INTO t VALUES (12, 25)") == (0, 0, 0)
    assert counts("DELETE FROM t WHERE id = 12") == (0, 0, 0)
    assert counts("UPDATE t SET x = 1 WHERE id = 9") == (0, 1, 1)
    assert counts("UPDATE t SET x = 12 WHERE id = 11") == (0, 1, 1)
    assert counts("DELETE FROM t WHERE id = 1; INSERT INTO t VALUES (1, 5)") == (0, 1, 1)
    assert counts("DELETE FROM t WHERE id = 1") == (10, 1, 1)
    assert counts("UPDATE t SET x = 200 WHERE id = 9") == (10, 1, 1)
    assert counts("UPDATE t SET x = x + 1 WHERE id IN (4, 6, 7)") == (0, 0, 0)


@pytest.mark.usual_way
def test_a_short_table_is_known_whole(numbers: PgStream) -> None:
    create_exact(numbers, "st", "SELECT x FROM t ORDER BY x DESC LIMIT 20 OFFSET 1")
    for change in (
        "DELETE FROM t WHERE id IN (3, 10)",
        "INSERT INTO t VALUES (20, -1), (21, 1000)",
        "DELETE FROM t",
        "INSERT INTO t VALUES (1, 1), (2, 2)",
    ):
        numbers.execute(change)
        assert refresh_exact(numbers, "st").rows_read == 0


@pytest.mark.usual_way
def test_copies_of_the_last_row_beyond_the_boundary(ps: PgStream) -> None:
    """More copies of the last row exist than the prefix holds."""
    script(ps, "CREATE TABLE t (x int)", "INSERT INTO t VALUES (1), (2), (2), (2), (2), (3)")
    create_exact(ps, "st", "SELECT x FROM t ORDER BY x LIMIT 3")
    script(ps, "INSERT INTO t VALUES (2)")
    assert refresh_exact(ps, "st").rows_read == 0
    script(ps, "DELETE FROM t WHERE x = 2")
    assert refresh_exact(ps, "st").rows_read > 0
    assert rows(ps, "st") == [(1,), (3,)]
    script(ps, "INSERT INTO t VALUES (0), (0), (3), (3)")
    assert refresh_exact(ps, "st").rows_read == 0
    assert rows(ps, "st") == [(0,), (0,), (1,)]


@pytest.mark.usual_way
def test_groups_are_stored_so_nothing_is_read(tables: PgStream) -> None:
    create_exact(tables, "st", QUERIES["groups"])
    for change in (
        "DELETE FROM a WHERE s = 'Ä'",  # the first group vanishes
        "UPDATE a SET x = 70 WHERE id = 6",
        "INSERT INTO a VALUES (50, 1, 'new', NULL)",
        "DELETE FROM a",
    ):
        tables.execute(change)
        result = refresh_exact(tables, "st")
        assert (result.rows_read, result.spark_actions) == (0, 1)


@pytest.mark.parametrize(
    "settings", [Settings(differential_max_change_ratio=0.0, small_path_rows=5)]
)
@pytest.mark.smoke("engine")
def test_large_inputs_and_changes_go_through_executors(numbers: PgStream) -> None:
    create_exact(numbers, "st", "SELECT id, x FROM t ORDER BY x DESC LIMIT 3 OFFSET 1")
    script(numbers, "UPDATE t SET x = -x")  # a large change, after which all is read again
    assert "the boundary moved" in refresh_exact(numbers, "st").reason
    script(numbers, "INSERT INTO t SELECT i, i FROM generate_series(100, 120) i")
    refresh_exact(numbers, "st")


# --- values ---------------------------------------------------------------------------------


def test_types_that_cannot_be_compared(ps: PgStream) -> None:
    script(
        ps,
        "CREATE TABLE t (id int, j json, p point, b jsonb, n numeric, f float8, v interval)",
        "INSERT INTO t SELECT i % 4, '{\"a\": 1}', point(i % 2, 1), '[1]', i / 2.0, i, i * '1 h'"
        "::interval FROM generate_series(1, 8) i",
    )
    create_exact(ps, "st", "SELECT id, n FROM t ORDER BY n, v LIMIT 3")
    ps.create_stream_table("js", "SELECT j, p, b FROM t ORDER BY b, f DESC LIMIT 3")
    for change in (
        "DELETE FROM t WHERE f = 8",
        "INSERT INTO t VALUES (1, '[]', point(1, 2), '{}', 0.50, 9, '1 s')",
        "UPDATE t SET b = '[0]' WHERE f = 3; DELETE FROM t WHERE f = 1",
    ):
        ps.execute(change)
        refresh_exact(ps, "st")
        ps.refresh_stream_table("js")
        wanted = ps.execute("SELECT j::text, p::text, b FROM t ORDER BY b, f DESC LIMIT 3")
        stored = ps.execute("SELECT j::text, p::text, b FROM js")
        assert sorted(stored, key=repr) == sorted(wanted, key=repr)


def test_ties_are_broken_the_same_way_every_time(ps: PgStream) -> None:
    script(
        ps,
        "CREATE TABLE t (id int, x int)",
        "INSERT INTO t SELECT i, 1 FROM generate_series(1, 20) i",
    )
    ps.create_stream_table("st", "SELECT id, x FROM t ORDER BY x LIMIT 3")
    assert rows(ps, "st") == [(1, 1), (2, 1), (3, 1)]
    script(ps, "DELETE FROM t WHERE id = 2", "INSERT INTO t VALUES (0, 1), (30, 1)")
    ps.refresh_stream_table("st")
    assert rows(ps, "st") == [(0, 1), (1, 1), (3, 1)]
    ps.refresh_stream_table("st", full=True)
    assert rows(ps, "st") == [(0, 1), (1, 1), (3, 1)]


# --- layers, storage, refusals --------------------------------------------------------------


def test_the_first_of_the_first(numbers: PgStream) -> None:
    create_exact(numbers, "five", "SELECT id, x FROM t ORDER BY x DESC LIMIT 5")
    numbers.create_stream_table("two", "SELECT * FROM five ORDER BY x LIMIT 2")
    create_exact(numbers, "total", "SELECT sum(x) AS s, count(*) AS n FROM two")
    for change in (
        "INSERT INTO t VALUES (11, 75)",
        "DELETE FROM t WHERE x > 80",
        "UPDATE t SET x = 1000 - x WHERE id < 4",
        "DELETE FROM t",
        "INSERT INTO t SELECT i, i FROM generate_series(1, 9) i",
    ):
        numbers.execute(change)
        refresh_exact(numbers, "total", "five")
        assert numbers.verify("two").exact


def test_dropping_leaves_nothing(tables: PgStream) -> None:
    stored = "SELECT count(*) FROM pg_tables WHERE schemaname = 'pgstream_state'"
    tables.create_stream_table("plain", QUERIES["first"])
    tables.create_stream_table("grouped", QUERIES["groups"])
    assert tables.execute(stored) == [(2,)]
    tables.drop_stream_table("plain")
    tables.drop_stream_table("grouped")
    assert tables.execute(stored) == [(0,)]


def test_a_mode_that_changes(numbers: PgStream) -> None:
    create_exact(numbers, "st", "SELECT id FROM t ORDER BY x LIMIT 2", refresh_mode="FULL")
    numbers.alter_stream_table("st", refresh_mode="DIFFERENTIAL")
    script(numbers, "UPDATE t SET x = 5 WHERE id = 7")
    assert refresh_exact(numbers, "st").action == "FULL"
    script(numbers, "UPDATE t SET x = 4 WHERE id = 8")
    assert refresh_exact(numbers, "st").action == "DIFFERENTIAL"


def test_a_prefix_that_does_not_fit_the_changes_fails(numbers: PgStream) -> None:
    numbers.create_stream_table("st", "SELECT id, x FROM t ORDER BY x LIMIT 3")
    (table,) = numbers.execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'pgstream_state'"
    )[0]
    numbers.execute(f"DELETE FROM pgstream_state.{table} WHERE id = 1")
    numbers.execute("INSERT INTO t VALUES (0, 0); DELETE FROM t WHERE id = 1")
    with pytest.raises(IntegrityError, match="lack 1 rows"):
        numbers.refresh_stream_table("st")
    refresh_exact(numbers, "st", full=True)


@pytest.mark.smoke("monitor")
def test_explain_tells_the_order_and_what_is_read_again(tables: PgStream) -> None:
    tables.create_stream_table("st", "SELECT id FROM a ORDER BY x DESC, i LIMIT 3 OFFSET 2")
    tables.create_stream_table("gr", QUERIES["groups"])
    shown = dict(tables.explain("st"))
    assert shown["Top"].startswith("rows 3 to 5 by __pgs_order_0 DESC NULLS FIRST, __pgs_order_1")
    assert 'COLLATE pg_catalog."POSIX" NULLS LAST' in shown["Top"]
    assert "fewer than 5 rows" in shown["Input Read Again"]
    shown = dict(tables.explain("gr"))
    assert shown["Top"] == "first 2 rows by total DESC NULLS FIRST, s NULLS LAST"
    assert shown["Input Read Again"].startswith("never")


@pytest.mark.parametrize(
    ("query", "words", "place"),
    [
        ("SELECT id FROM a\nLIMIT 3", "LIMIT without ORDER BY", (2, 1)),
        ("SELECT id FROM a FETCH FIRST ROW ONLY", "LIMIT without ORDER BY", (1, 18)),
        ("SELECT id FROM a ORDER BY id OFFSET 3", "OFFSET without LIMIT", (1, 30)),
        ("SELECT id FROM a ORDER BY x LIMIT (SELECT 3)", "must be a constant", (1, 29)),
        ("SELECT id FROM a ORDER BY x LIMIT -3", "LIMIT must not be negative", (1, 29)),
        ("SELECT id FROM a ORDER BY x LIMIT 3 OFFSET -1", "OFFSET must not be", (1, 37)),
        ("SELECT id FROM a ORDER BY x USING OPERATOR(pg_catalog.~<~) LIMIT 3", "USING", (1, 29)),
    ],
)
def test_refusals(tables: PgStream, query: str, words: str, place: tuple[int, int] | None) -> None:
    tables.execute("ALTER TABLE a ALTER x TYPE text" if "USING" in query else "SELECT 1")
    with pytest.raises(UnsupportedConstruct, match=words) as caught:
        tables.create_stream_table("st", query)
    if place is not None:
        assert (caught.value.line, caught.value.column) == place


@pytest.mark.parametrize("clause", ["LIMIT ALL", "LIMIT NULL", "OFFSET 0", "LIMIT ALL OFFSET NULL"])
def test_clauses_that_cut_nothing(numbers: PgStream, clause: str) -> None:
    create_exact(numbers, "st", f"SELECT id FROM t {clause}")
    script(numbers, "DELETE FROM t WHERE id < 4")
    refresh_exact(numbers, "st")
    assert len(rows(numbers, "st")) == 7
