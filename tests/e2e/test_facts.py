"""A plan relies on constraints only as long as they are there."""

from __future__ import annotations

from helpers import create_exact, refresh_exact, script
from pgstream.catalog.records import Action
from pgstream.client import PgStream

QUERIES = {
    "rows": "SELECT DISTINCT id, x FROM t",
    "groups": "SELECT q.id, q.n, u.y FROM (SELECT id, count(*) AS n, max(x) AS x FROM t"
    " GROUP BY id) q JOIN u ON u.y = q.x",
    "alone": "SELECT t.id, t.x FROM t LEFT JOIN u ON u.id = t.x",
    "missing": "SELECT x FROM t WHERE id NOT IN (SELECT id FROM u)",
    "single": "SELECT t.id, (SELECT y FROM u WHERE u.id = t.x) AS y FROM t",
}


def test_a_constraint_that_goes_and_comes(ps: PgStream) -> None:
    script(
        ps,
        "CREATE TABLE t (id int PRIMARY KEY, x int); CREATE TABLE u (id int PRIMARY KEY, y int)",
        "INSERT INTO t SELECT i, i % 7 FROM generate_series(1, 30) i",
        "INSERT INTO u SELECT i, i % 4 FROM generate_series(1, 6) i",
    )
    for name, query in QUERIES.items():
        create_exact(ps, name, query)
        assert "Relies On" in dict(ps.explain(name))
    ps.execute("UPDATE u SET y = y + 1 WHERE id < 3; DELETE FROM t WHERE id = 3")
    actions = {name: refresh_exact(ps, name).action for name in QUERIES}
    assert set(actions.values()) <= {Action.DIFFERENTIAL, Action.NO_DATA}
    ps.execute("ALTER TABLE t DROP CONSTRAINT t_pkey; INSERT INTO t VALUES (1, 1), (1, 2)")
    assert_full(ps, "rows", "groups")
    ps.execute("ALTER TABLE u DROP CONSTRAINT u_pkey; INSERT INTO u VALUES (9, 1), (9, 1)")
    assert_full(ps, "alone", "single")
    ps.execute("ALTER TABLE u ALTER id DROP NOT NULL; INSERT INTO u VALUES (NULL, 1)")
    assert_full(ps, "missing")
    ps.execute("DELETE FROM u WHERE id IS NULL; INSERT INTO t VALUES (40, 1), (40, 1)")
    for name in QUERIES:
        assert refresh_exact(ps, name).action is Action.DIFFERENTIAL
    ps.execute("DELETE FROM t WHERE id IN (1, 40); ALTER TABLE t ADD PRIMARY KEY (id)")
    assert_full(ps, "rows", "groups")


def assert_full(ps: PgStream, *names: str) -> None:
    for name in names:
        result = refresh_exact(ps, name)
        assert result.action is Action.FULL, result.reason
