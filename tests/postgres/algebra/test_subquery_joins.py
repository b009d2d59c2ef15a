"""Which joins a query with subqueries becomes: by which keys, and whether over a domain."""

from __future__ import annotations

from pgstream.algebra.operators.join import Pairing
from pgstream.algebra.operators.node import Node
from pgstream.client import PgStream
from pgstream.compile.prepare import prepare

TABLES = """
CREATE TABLE a (id int PRIMARY KEY, k int, x int);
CREATE TABLE b (k int, v int, z int);
CREATE TABLE c (k numeric, z text);
"""
# Per join, from the top: its kind, how many keys it has, ? for a condition besides, = for keys
# that are values of a domain.
JOINS = {
    "SELECT id FROM a WHERE EXISTS (SELECT FROM b WHERE b.k = a.k)": "SemiJoin 1",
    "SELECT id FROM a WHERE NOT (EXISTS (SELECT FROM b WHERE b.k = a.k AND v > 2))": "AntiJoin 1",
    "SELECT id FROM a WHERE k IN (SELECT v FROM b)": "SemiJoin 1",
    "SELECT id FROM a WHERE (k, x) IN (SELECT v, k FROM b WHERE b.z = a.id)": "SemiJoin 3",
    "SELECT id FROM a WHERE id IN (SELECT c.k FROM c)": "SemiJoin 1",
    "SELECT id FROM a WHERE EXISTS (SELECT FROM b WHERE b.k = a.k AND b.v <> a.x)": "SemiJoin 1 ?",
    "SELECT id FROM a WHERE NOT EXISTS (SELECT FROM b WHERE b.k = a.k AND a.x > v * 2 + z)":
        "AntiJoin 1 ?",
    "SELECT id FROM a JOIN c ON c.k = a.k WHERE id + length(c.z) IN (SELECT v FROM b)":
        "SemiJoin 1, Join 1",
    # What Spark does not compute as PostgreSQL does, over columns of both.
    "SELECT id FROM a WHERE EXISTS (SELECT FROM c WHERE c.k = a.k AND c.z ~ chr(a.x))":
        "SemiJoin 2 =, Join 0 ?",
    # Unknown, if a NULL is on either side.
    "SELECT id FROM a WHERE k NOT IN (SELECT v FROM b)": "Join 0 ?, AntiJoin 1",
    "SELECT id FROM a WHERE id NOT IN (SELECT v.id FROM a v WHERE v.x = a.k)":
        "LeftJoin 1, AntiJoin 2",
    "SELECT a.id FROM a LEFT JOIN a v ON v.id = a.k WHERE v.id NOT IN (SELECT w.id FROM a w)":
        "Join 0 ?, AntiJoin 1, LeftJoin 1",
    "SELECT id FROM a WHERE k NOT IN (SELECT v FROM b WHERE b.k = a.x)": "LeftJoin 1, AntiJoin 2",
    "SELECT id, EXISTS (SELECT FROM b WHERE b.k = a.k) AS e FROM a": "LeftJoin 1",
    "SELECT id FROM a WHERE EXISTS (SELECT FROM b WHERE b.k = a.k) OR x = 1": "LeftJoin 1",
    "SELECT id FROM a WHERE EXISTS (SELECT FROM b WHERE b.k > a.k)": "SemiJoin 1 =, Join 0 ?",
    "SELECT id FROM a WHERE x > ALL (SELECT v FROM b WHERE b.k = a.k)": "AntiJoin 1 ?",
    "SELECT id FROM a WHERE x > ANY (SELECT max(v) FROM b WHERE b.k = a.k GROUP BY z)":
        "SemiJoin 1 ?",
    "SELECT id FROM a WHERE x <> ALL (SELECT v FROM b)": "Join 0 ?, AntiJoin 1",
    # Through GROUP BY, and out of a subquery in FROM.
    "SELECT id FROM a WHERE EXISTS (SELECT FROM b WHERE b.k = a.k GROUP BY z HAVING count(*) > 2)":
        "SemiJoin 1",
    "SELECT id FROM a WHERE k IN (SELECT max(v) FROM b WHERE b.k = a.x GROUP BY z)": "SemiJoin 2",
    "SELECT id, (SELECT max(s) FROM (SELECT sum(v) AS s FROM b WHERE b.k = a.k GROUP BY z) q) AS m"
    " FROM a": "LeftJoin 1",
    # One row without rows.
    "SELECT id FROM a WHERE k IN (SELECT count(*) FROM b WHERE b.k = a.x)":
        "Join 2 =, LeftJoin 2 =, LeftJoin 1",
    # LATERAL.
    "SELECT id, q.v FROM a, LATERAL (SELECT v FROM b WHERE b.k = a.k + 1) q": "Join 1",
    "SELECT id, q.s FROM a LEFT JOIN LATERAL (SELECT z, sum(v) AS s FROM b WHERE b.k = a.k"
    " GROUP BY z) q ON q.s > a.x": "LeftJoin 1 ?",
    "SELECT id, q.n FROM a, LATERAL (SELECT count(*) AS n FROM b WHERE b.k = a.k) q": "LeftJoin 1",
    "SELECT id, q.v FROM a, LATERAL (SELECT v FROM b WHERE b.k = a.k ORDER BY v LIMIT 1) q":
        "Join 1 =, Join 1 =, Join 1",
}  # fmt: skip


def test_subqueries_become_joins_by_their_equalities(database) -> None:
    found: dict[str, str] = {}
    with PgStream(database.dsn_as("pgs_test_owner")) as ps:
        ps.execute(TABLES)
        for i, query in enumerate(JOINS):
            ps.create_stream_table(f"st{i}", query, initialize=False)
            prepared = prepare(ps.connection, ps.table(f"st{i}"), nested_state=False)
            found[query] = joins(prepared.plan.tree)
    assert found == JOINS


def joins(tree: Node) -> str:
    return ", ".join(said(node) for node in tree.walk() if isinstance(node, Pairing))


def said(node: Pairing) -> str:
    marks = (" ?" if node.condition is not None else "") + (" =" if node.nulls_match else "")
    return f"{node.describe().split(' ')[0]} {len(node.on)}{marks}"
