"""LATERAL, functions in FROM, VALUES, shared CTEs and correlation of any kind."""

from __future__ import annotations

import pytest

from helpers import assert_all_stay_exact, create_exact, refresh_exact, script
from pgstream.client import PgStream
from pgstream.compile.prepare import prepare
from pgstream.errors import RefreshError
from pgstream.monitor.nested import nested_state

TABLES = """
CREATE TABLE t (id int PRIMARY KEY, g int, x int, tags text[], doc jsonb);
CREATE TABLE u (id int PRIMARY KEY, tid int, y int);
INSERT INTO t SELECT i, nullif(i % 4, 3), nullif(i % 6, 5), ARRAY['a', chr(97 + i % 3)],
    jsonb_build_object('k', i, 'list', jsonb_build_array(i, i % 2)) FROM generate_series(1, 12) i;
INSERT INTO u SELECT i, nullif(i % 9, 8), nullif(i % 5, 4) FROM generate_series(1, 20) i;
"""
FUNCTIONS = {
    "unnest": "SELECT t.id, f.tag FROM t, unnest(t.tags) f(tag)",
    "ordinality": "SELECT t.id, f.tag, f.n FROM t LEFT JOIN LATERAL unnest(t.tags)"
    " WITH ORDINALITY f(tag, n) ON f.tag <> 'a'",
    "series": "SELECT t.id, n FROM t, generate_series(1, t.x) n WHERE n % 2 = 1",
    "constant": "SELECT n, count(t.id) AS c FROM generate_series(0, 5) n LEFT JOIN t ON t.x = n"
    " GROUP BY n",
    "jsonb": "SELECT t.id, e.value::int AS v, kv.key FROM t, jsonb_array_elements(t.doc -> 'list')"
    " e(value), jsonb_each_text(t.doc) kv WHERE e.value::int > 0",
    "rows from": "SELECT t.id, r.a, r.b FROM t, ROWS FROM (unnest(t.tags), generate_series(1, 3))"
    " r(a, b)",
    "json_table": "SELECT t.id, j.v FROM t, JSON_TABLE(t.doc, '$.list[*]' COLUMNS"
    " (v int PATH '$')) j",
    "of a join": "SELECT t.id, f.e FROM t JOIN u ON u.tid = t.id, unnest(ARRAY[t.x, u.y]) f(e)",
    "across a comma": "SELECT u.id, f.e FROM t, u CROSS JOIN LATERAL unnest(ARRAY[t.x]) f(e)"
    " WHERE t.id = u.tid",
    "values": "SELECT t.id, v.b FROM t JOIN (VALUES (1, 'x'), (2, NULL)) v(a, b) ON v.a = t.x",
}
SUBQUERIES = {
    "first n": "SELECT t.id, l.y FROM t, LATERAL (SELECT u.y FROM u WHERE u.tid = t.id"
    " ORDER BY u.y DESC, u.id LIMIT 2) l",
    "aggregate": "SELECT t.id, l.c, l.m FROM t LEFT JOIN LATERAL (SELECT count(*) AS c,"
    " max(u.y) AS m FROM u WHERE u.tid = t.id AND u.y > t.x) l ON true",
    "by inequality": "SELECT id FROM t WHERE EXISTS (SELECT FROM u WHERE u.y > t.x)",
    "not aggregated": "SELECT id, (SELECT u.y FROM u WHERE u.id = t.id) AS y FROM t",
    "all": "SELECT id FROM t WHERE x > ALL (SELECT y FROM u WHERE u.tid = t.g)",
    "rows not in": "SELECT id FROM t WHERE (x, g) NOT IN (SELECT y, tid FROM u)",
    "not in keys": "SELECT id FROM t WHERE id NOT IN (SELECT u.id FROM u WHERE u.y > 1)"
    " AND EXISTS (SELECT FROM u WHERE u.y IS NULL) AND x NOT IN (SELECT tid FROM u WHERE y > 7)",
    "in having": "SELECT g, sum(x) AS s FROM t GROUP BY g HAVING sum(x) > (SELECT avg(y) FROM u"
    " WHERE u.tid = t.g)",
    "grouped": "SELECT id FROM t WHERE x IN (SELECT max(y) FROM u WHERE u.tid = t.g GROUP BY u.y)",
    "two levels": "SELECT id FROM t WHERE EXISTS (SELECT FROM u WHERE u.tid = t.id AND EXISTS"
    " (SELECT FROM u v WHERE v.y = t.x AND v.id <> u.id))",
    "union": "SELECT t.id, w.s FROM t JOIN LATERAL (SELECT sum(u.y) AS s FROM u WHERE u.tid = t.g"
    " UNION ALL SELECT t.x) w ON true",
    "by equality": "SELECT t.id, l.y FROM t LEFT JOIN LATERAL (SELECT DISTINCT u.y FROM u"
    " WHERE u.tid = t.x + 1) l ON l.y > t.g",
    "groups by equality": "SELECT t.id, l.m, l.s FROM t, LATERAL (SELECT u.y % 2 AS m,"
    " sum(u.y) AS s FROM u WHERE u.tid = t.g GROUP BY u.y % 2 HAVING count(*) > 1) l",
    "one row by equality": "SELECT t.id, l.n, l.s, m.h FROM t CROSS JOIN LATERAL"
    " (SELECT count(*) AS n, sum(u.y) + count(u.y) AS s FROM u WHERE u.tid = t.g) l"
    " LEFT JOIN LATERAL (SELECT max(u.y) FROM u WHERE u.tid = l.n) m(h) ON true",
    "one row, tested": "SELECT t.id, l.n FROM t JOIN LATERAL (SELECT count(*) AS n FROM u"
    " WHERE u.tid = t.x) l ON l.n < t.id",
    "one row of a subquery": "SELECT t.id, l.n FROM t LEFT JOIN LATERAL (SELECT count(*) AS n,"
    " max(q.s) AS s FROM (SELECT sum(u.y) AS s FROM u WHERE u.tid = t.x GROUP BY u.y) q) l"
    " ON l.s > 1",
    "in on": "SELECT t.id, u.y FROM t JOIN u ON u.tid = t.id AND EXISTS (SELECT FROM t v"
    " WHERE v.x = u.y)",
}
CHANGES = (
    "INSERT INTO t VALUES (30, 1, 2, '{z}', '{\"k\": 1}'), (31, NULL, NULL, NULL, NULL)",
    "INSERT INTO u VALUES (40, 2, 9), (41, NULL, NULL); UPDATE u SET y = 0 WHERE id = 3",
    "UPDATE t SET x = 3, g = 0 WHERE id < 4; UPDATE u SET tid = 1 WHERE tid = 2",
    "DELETE FROM t WHERE id % 5 = 0; DELETE FROM u WHERE y = 1; UPDATE t SET tags = '{q,r,s}'"
    " WHERE id = 7",
    "DELETE FROM u; DELETE FROM t",
    "INSERT INTO t SELECT i, i % 3, i % 4, '{a,b}', '{\"list\": [1, 2]}' FROM"
    " generate_series(1, 5) i; INSERT INTO u SELECT i, i % 4, i FROM generate_series(1, 8) i",
)


@pytest.mark.parametrize("queries", [FUNCTIONS, SUBQUERIES], ids=["functions", "subqueries"])
def test_every_change_stays_exact(ps: PgStream, queries: dict[str, str]) -> None:
    ps.execute(TABLES)
    assert_all_stay_exact(ps, queries.values(), CHANGES)


@pytest.mark.usual_way
def test_the_first_rows_of_one_order_are_read_by_its_key(ps: PgStream) -> None:
    script(
        ps,
        "CREATE TABLE o (id int PRIMARY KEY); CREATE TABLE i (oid int, v int)",
        "CREATE INDEX ON i (oid)",
        "INSERT INTO o SELECT generate_series(1, 500)",
        "INSERT INTO i SELECT n % 500 + 1, n FROM generate_series(1, 5000) n",
    )
    query = "SELECT o.id, l.v FROM o, LATERAL (SELECT i.v FROM i WHERE i.oid = o.id"
    create_exact(ps, "st", f"{query} ORDER BY i.v DESC LIMIT 3) l")
    ps.execute("DELETE FROM i WHERE v = 4999; INSERT INTO i VALUES (17, 99999)")
    result = refresh_exact(ps, "st")
    assert (result.rows_inserted, result.rows_deleted) == (2, 2)
    assert result.rows_read <= 50


def test_a_scalar_subquery_with_two_rows_is_an_error(ps: PgStream) -> None:
    ps.execute(TABLES)
    create_exact(ps, "st", "SELECT id, (SELECT u.id FROM u WHERE u.id = t.id) AS y FROM t")
    ps.execute("ALTER TABLE u DROP CONSTRAINT u_pkey; INSERT INTO u VALUES (1, 1, 1)")
    with pytest.raises(RefreshError, match="more than one row"):
        ps.refresh_stream_table("st")
    ps.execute("DELETE FROM u WHERE id = 1")
    refresh_exact(ps, "st")


def test_a_cte_that_is_read_twice_is_computed_once(ps: PgStream) -> None:
    ps.execute(TABLES)
    create_exact(ps, "st", "WITH q AS (SELECT g, sum(x) AS s FROM t GROUP BY g)"
                 " SELECT a.g, a.s, b.s AS next FROM q a JOIN q b ON b.g = a.g + 1")  # fmt: skip
    hidden = [value for name, value in ps.explain("st") if name == "Hidden Table"]
    assert len(hidden) == 1
    for change in CHANGES:
        ps.execute(change)
        refresh_exact(ps, "st")


def test_explain_tells_what_nested_state_reads(ps: PgStream) -> None:
    ps.execute(TABLES)
    create_exact(ps, "st", "SELECT u.id, q.s FROM u JOIN (SELECT g, sum(x) AS s FROM t GROUP BY g)"
                 " q ON q.g = u.tid")  # fmt: skip
    told = dict(ps.explain("st"))
    assert "Nested State" not in told
    assert "Aggregate sum(x) by (g), stored for what stands above it" in told["Hidden Table"]
    plan = prepare(ps.own, ps.table("st"), nested_state=False).plan
    (text,) = nested_state(plan)
    assert text == "Aggregate sum(x) by (g): for a changed key reads public.t by g"
