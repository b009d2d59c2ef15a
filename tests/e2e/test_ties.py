"""FETCH FIRST … WITH TIES at the top and in subqueries."""

from __future__ import annotations

import pytest

from helpers import assert_all_stay_exact, create_exact, refresh_exact, rows, script
from pgstream.client import PgStream

# Where OFFSET leaves open which of the rows that tie are skipped, they are equal.
QUERIES = (
    "SELECT id, x FROM a ORDER BY x FETCH FIRST 3 ROWS WITH TIES",
    "SELECT s FROM a ORDER BY x DESC NULLS LAST FETCH FIRST ROW WITH TIES",
    "SELECT x FROM a ORDER BY x OFFSET 2 ROWS FETCH FIRST 2 ROWS WITH TIES",
    "SELECT x FROM a ORDER BY x OFFSET 2 ROWS FETCH FIRST 0 ROWS WITH TIES",
    "SELECT s, count(*) AS n FROM a GROUP BY s ORDER BY n DESC FETCH FIRST (1 + 1) ROWS WITH TIES",
    "SELECT b.id, q.x FROM b JOIN (SELECT id, x FROM a ORDER BY x FETCH FIRST 2 ROWS WITH TIES) q"
    " ON q.id = b.a",
    "SELECT a.id, l.y FROM a, LATERAL (SELECT y FROM b WHERE b.a >= a.id ORDER BY y OFFSET 1 ROW"
    " FETCH FIRST 2 ROWS WITH TIES) l",
    "SELECT id FROM a WHERE x NOT IN (SELECT y FROM b ORDER BY y OFFSET 1 ROW"
    " FETCH FIRST 0 ROWS WITH TIES)",
)
CHANGES = (
    "INSERT INTO a VALUES (11, 2, 'b'), (12, 1, 'c'), (13, 1, 'a'); DELETE FROM b WHERE y = 0",
    "DELETE FROM a WHERE x = 1; INSERT INTO b VALUES (7, 3, 1), (8, 2, NULL)",
    "UPDATE a SET x = 8 - x WHERE id <> 11; UPDATE b SET y = 3 - y",
)


def test_rows_that_tie_stay_exact(ps: PgStream) -> None:
    script(
        ps,
        "CREATE TABLE a (id int PRIMARY KEY, x int, s text)",
        "CREATE TABLE b (id int PRIMARY KEY, a int, y int)",
        "INSERT INTO a VALUES (1, 2, 'a'), (2, 2, 'B'), (3, 3, 'b'), (4, 5, 'a'), (5, 8, 'c'),"
        " (6, NULL, 'c'), (7, 1, 'c'), (8, 8, 'a')",
        "INSERT INTO b VALUES (1, 1, 1), (2, 1, 2), (3, 2, 1), (4, 5, 0), (5, 7, 3), (6, 9, 1)",
    )
    assert_all_stay_exact(ps, QUERIES, CHANGES)


@pytest.mark.usual_way
def test_the_input_is_read_only_when_too_few_rows_are_left(ps: PgStream) -> None:
    script(ps, "CREATE TABLE t (id int, x int)")
    script(ps, "INSERT INTO t SELECT i, i / 2 FROM generate_series(2, 11) i")
    create_exact(ps, "st", "SELECT id, x FROM t ORDER BY x FETCH FIRST 3 ROWS WITH TIES")

    def is_read(change: str) -> bool:
        ps.execute(change)
        return refresh_exact(ps, "st").rows_read > 0

    assert len(rows(ps, "st")) == 4
    assert not is_read("INSERT INTO t VALUES (12, 2), (12, 2), (13, 3)")
    assert len(rows(ps, "st")) == 6
    assert not is_read("DELETE FROM t WHERE id IN (4, 5); INSERT INTO t VALUES (14, 9)")
    assert len(rows(ps, "st")) == 4
    assert not is_read("INSERT INTO t VALUES (15, 1)")
    assert len(rows(ps, "st")) == 3
    assert not is_read("DELETE FROM t WHERE id = 12")
    assert is_read("DELETE FROM t WHERE x = 1")
    assert dict(ps.explain("st"))["Top"] == "first 3 rows with ties by x NULLS LAST"
