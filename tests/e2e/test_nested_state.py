"""Hidden tables: exact, cheap, consistent with their owner whatever is done to it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from helpers import assert_hidden_exact, create_exact, refresh_exact, script
from pgstream.catalog.records import Action
from pgstream.client import PgStream

TABLES = """
CREATE TABLE a (id int PRIMARY KEY, g int, x int, t text);
CREATE TABLE b (id int PRIMARY KEY, g int, y numeric(12, 4));
INSERT INTO a SELECT i, nullif(i % 97, 0), i % 50, 't' || i % 7 FROM generate_series(1, 2000) i;
INSERT INTO b SELECT i, nullif(i % 90, 3), i / 7.0 FROM generate_series(1, 1000) i;
CREATE INDEX ON a (g); CREATE INDEX ON b (g);
"""
QUERIES = {
    "mean": "SELECT a.id, a.x FROM a JOIN (SELECT g, avg(x) AS m FROM a GROUP BY g) q ON q.g = a.g"
    " AND a.x > 1.9 * q.m",
    "scalar": "SELECT id, x - (SELECT max(y) FROM b WHERE b.g = a.g) AS d FROM a",
    "exists": "SELECT id FROM a WHERE EXISTS (SELECT FROM b WHERE b.g = a.g AND b.y > 100)",
    "none": "SELECT id FROM a WHERE NOT EXISTS (SELECT FROM b WHERE b.g = a.g)",
    "two levels": "SELECT m, count(*) AS n FROM (SELECT g, max(x) AS m FROM a GROUP BY g) q"
    " JOIN (SELECT DISTINCT g FROM b) d ON d.g IS NOT DISTINCT FROM q.g GROUP BY m",
    "sets": "SELECT g FROM a EXCEPT SELECT g FROM b UNION ALL (SELECT x FROM a INTERSECT ALL"
    " SELECT g FROM b)",
    "deviation": "SELECT b.id, q.s FROM b JOIN (SELECT g, stddev(y) AS s, avg(y) AS m FROM b"
    " GROUP BY g) q ON q.g = b.g WHERE b.y >= q.m",
    "total": "SELECT id FROM b WHERE y > (SELECT avg(y) FROM b)",
    "different": "SELECT g, count(DISTINCT x) AS n, sum(DISTINCT x) AS s, count(DISTINCT t) FILTER"
    " (WHERE x > 9) AS f, avg(x) AS m, max(DISTINCT x) AS h FROM a GROUP BY g",
    "different of all": "SELECT count(DISTINCT y) AS n, count(DISTINCT g) AS k, count(*) AS c"
    " FROM b",
    "different of each": "SELECT id, (SELECT count(DISTINCT b.y) FROM b WHERE b.g = a.g) AS n"
    " FROM a",
    "moment": "SELECT id FROM a WHERE date '2020-01-01' + x <="
    " (SELECT max(date '2020-01-01' + id % 60 - 5) FROM b WHERE b.g = a.id / 2)",
    "union": "SELECT t, sum(n) AS n FROM (SELECT t, count(*) AS n FROM a GROUP BY t UNION ALL"
    " SELECT 'b', count(DISTINCT g) FROM b) q GROUP BY t",
}
CHANGES = (
    "INSERT INTO a SELECT i, i % 97, 1000 + i, 'new' FROM generate_series(3001, 3005) i",
    "UPDATE b SET y = y + 1, g = CASE WHEN id % 2 = 0 THEN g + 1 ELSE g END WHERE id <= 20;"
    "DELETE FROM a WHERE g = 5 OR id <= 3",
    "DELETE FROM b WHERE g IN (7, 8); INSERT INTO a SELECT i, 5, 3, NULL"
    " FROM generate_series(4001, 4002) i; UPDATE a SET x = NULL WHERE g = 11",
    "INSERT INTO b VALUES (5000, 7, 0.25), (5001, NULL, 1e6); DELETE FROM a WHERE g IS NULL",
    "DELETE FROM a; DELETE FROM b WHERE id > 10",
    "INSERT INTO a VALUES (1, 1, 1, 'x'), (2, 1, 5, 'x')",
)


def test_every_change_keeps_hidden_tables_exact(ps: PgStream) -> None:
    script(ps, TABLES)
    names = {f"s{i}": query for i, query in enumerate(QUERIES.values())}
    for name, query in names.items():
        create_exact(ps, name, query)
        assert "Hidden Table" in dict(ps.explain(name)), query
    for change in CHANGES:
        script(ps, change)
        for name in names:
            assert refresh_exact(ps, name).action is not Action.FULL
    for name in names:
        assert_hidden_exact(ps, name)


@pytest.mark.usual_way
def test_what_does_not_reach_the_result_reads_nothing(ps: PgStream) -> None:
    script(ps, TABLES)
    create_exact(ps, "st", QUERIES["exists"])
    script(ps, "INSERT INTO b VALUES (6000, 9, 500); UPDATE b SET y = y + 0.5 WHERE g = 89")
    result = refresh_exact(ps, "st")
    assert result.action is Action.NO_DATA
    assert result.reason.endswith(" changes do not reach the result")
    assert result.rows_read == 0
    assert_hidden_exact(ps, "st")


@pytest.mark.usual_way
@pytest.mark.parametrize("asked", ["g, count(DISTINCT x) AS n", "g, sum(DISTINCT x) AS n, avg(x)"])
def test_different_values_of_a_group_are_not_read_again(ps: PgStream, asked: str) -> None:
    """A group has as many rows as there are, and what is read of it is its row in hidden tables."""
    script(ps, TABLES, "UPDATE a SET g = id % 2")
    create_exact(ps, "st", f"SELECT {asked} FROM a GROUP BY g")
    script(ps, "UPDATE a SET x = x + 1 WHERE id < 5; INSERT INTO a VALUES (9001, 1, 999)")
    result = refresh_exact(ps, "st")
    assert result.action is Action.DIFFERENTIAL
    assert result.rows_read <= 4


@pytest.mark.usual_way
@pytest.mark.parametrize("query", ["total", "mean"])
def test_a_threshold_reads_the_rows_that_it_moved_over(ps: PgStream, query: str) -> None:
    """Of a thousand rows, or of the twenty of a group."""
    script(ps, TABLES)
    create_exact(ps, "st", QUERIES[query])
    script(ps, "UPDATE b SET y = y + 10 WHERE id = 900; UPDATE a SET x = x + 1 WHERE id = 900")
    result = refresh_exact(ps, "st")
    assert result.action is Action.DIFFERENTIAL
    assert result.rows_read < 10
    script(ps, "UPDATE b SET y = y + 200 WHERE id > 900; UPDATE a SET x = 900 - x WHERE id < 500")
    assert refresh_exact(ps, "st").rows_read > 10


def hidden(ps: PgStream) -> list[str]:
    found = ps.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = 'pgstream_state'::regnamespace"
        " AND relkind = 'r' AND relname LIKE 'hidden%' ORDER BY 1"
    )
    return [name for (name,) in found]


def test_hidden_tables_follow_their_owner(ps: PgStream) -> None:
    script(ps, TABLES)
    create_exact(ps, "st", QUERIES["two levels"])
    assert len(hidden(ps)) == 2
    script(ps, CHANGES[0])
    assert refresh_exact(ps, "st", full=True).action is Action.FULL
    assert_hidden_exact(ps, "st")
    ps.alter_stream_table("st", refresh_mode="FULL")
    script(ps, CHANGES[1])
    refresh_exact(ps, "st")
    ps.alter_stream_table("st", refresh_mode="DIFFERENTIAL")
    for change in CHANGES[2:4]:
        script(ps, change)
        refresh_exact(ps, "st")
    assert_hidden_exact(ps, "st")
    script(ps, "TRUNCATE b")
    refresh_exact(ps, "st")
    assert_hidden_exact(ps, "st")
    ps.drop_stream_table("st")
    assert hidden(ps) == []


def test_without_nested_state_there_are_no_hidden_tables(ps: PgStream) -> None:
    script(ps, TABLES)
    create_exact(ps, "st", QUERIES["mean"])
    assert len(hidden(ps)) == 1
    for nested_state in (False, True):
        ps.settings = ps.refresher.settings = replace(ps.settings, nested_state=nested_state)
        script(ps, f"UPDATE a SET x = x + 7 WHERE id = {1 + nested_state}")
        result = refresh_exact(ps, "st")
        assert (result.action, result.reason) == (Action.FULL, "what is stored is of another plan")
        assert len(hidden(ps)) == nested_state
        script(ps, f"UPDATE a SET x = x + 9 WHERE id = {5 + nested_state}")
        assert refresh_exact(ps, "st").action is Action.DIFFERENTIAL


def test_verify_tells_of_a_hidden_table_that_is_wrong(ps: PgStream) -> None:
    script(ps, TABLES)
    create_exact(ps, "st", QUERIES["scalar"])
    found = ps.verify("st")
    assert found.exact
    assert [each.exact for each in found.hidden] == [True]
    ps.execute(f"UPDATE pgstream_state.{hidden(ps)[0]} SET n = n + 1 WHERE k0 = 4")
    found = ps.verify("st")
    assert not found.exact
    assert (found.missing, found.extra) == (0, 0)
    assert [(each.missing, each.extra) for each in found.hidden] == [(1, 1)]


def test_verify_leaves_nothing_behind(ps: PgStream) -> None:
    """Executors stage the groups: the next check and the next full refresh stage theirs."""
    script(ps, TABLES)
    settings = replace(ps.settings, small_path_rows=1)
    with PgStream(ps.dsn, settings=settings, sessions=ps.sessions) as large:
        create_exact(large, "st", QUERIES["two levels"])
        for _ in range(2):
            assert large.verify("st").exact
            assert staged(large) == []
        refresh_exact(large, "st", full=True)


def test_what_a_killed_check_left_is_in_nobodys_way(ps: PgStream) -> None:
    script(ps, TABLES)
    settings = replace(ps.settings, small_path_rows=1)
    with PgStream(ps.dsn, settings=settings, sessions=ps.sessions) as large:
        create_exact(large, "st", QUERIES["two levels"])
        left = f"pgstream_state.staging_{large.table('st').id}_0"
        script(ps, f"CREATE TABLE {left} ()", CHANGES[1])
        refresh_exact(large, "st", full=True)
        assert staged(large) == []


def staged(ps: PgStream) -> list[str]:
    found = ps.execute("SELECT tablename FROM pg_tables WHERE tablename ~ '^(staging|handover)_'")
    return [name for (name,) in found]
