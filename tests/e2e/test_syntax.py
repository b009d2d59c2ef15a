"""What only PostgreSQL's own grammar reads: operators, types and clauses of every spelling."""

from __future__ import annotations

import pytest

from helpers import assert_all_stay_exact, script, with_three_tables
from pgstream.client import PgStream
from pgstream.errors import PgStreamError

CHANGES = (
    "INSERT INTO a VALUES (20, 3), (21, NULL); DELETE FROM a WHERE id = 2",
    "UPDATE b SET v = v + 1; INSERT INTO b VALUES (3, 30)",
    "UPDATE a SET k = k + 1; DELETE FROM c",
)
RECORD_CHANGE = "INSERT INTO p VALUES (4, '(1,1.0)', '(2,)'); DELETE FROM p WHERE id = 2"

OWN_OPERATORS = """
CREATE SCHEMA "My ops";
CREATE FUNCTION "My ops".far(a int, b int) RETURNS boolean LANGUAGE sql IMMUTABLE
    AS 'SELECT abs(a OPERATOR(pg_catalog.-) b) OPERATOR(pg_catalog.>) 2';
CREATE FUNCTION "My ops".half(a int) RETURNS int LANGUAGE sql IMMUTABLE
    AS 'SELECT a OPERATOR(pg_catalog./) 2';
CREATE OPERATOR "My ops".@@@ (LEFTARG = int, RIGHTARG = int, FUNCTION = "My ops".far);
CREATE OPERATOR "My ops".= (LEFTARG = int, RIGHTARG = int, FUNCTION = "My ops".far);
CREATE OPERATOR "My ops".- (RIGHTARG = int, FUNCTION = "My ops".half);
"""
WITH_OWN_OPERATORS = (
    'SELECT a.id, a.k OPERATOR("My ops".@@@) a.id AS f, OPERATOR("My ops".-) a.id AS h FROM a',
    'SELECT a.id, b.v FROM a JOIN b ON a.id OPERATOR("My ops".=) b.v AND a.k = b.k',
    'SELECT a.id, a.k OPERATOR("My ops".=) ANY (SELECT b.v FROM b) AS f FROM a',
    'SELECT a.id FROM a WHERE a.id OPERATOR("My ops".@@@) ANY (ARRAY[1, a.k])',
)


def test_own_operators(ps: PgStream) -> None:
    script(with_three_tables(ps), OWN_OPERATORS)
    assert_all_stay_exact(ps, WITH_OWN_OPERATORS, CHANGES)


OTHER_OPERATORS = (
    "SELECT id, r *= s AS e, r *<> s AS n, r *< s AS l, r *>= s AS g FROM p",
    "SELECT p.id, q.id AS other FROM p JOIN p q ON p.r *= q.s",
    "SELECT id, !! (to_tsquery('simple', 'w' || id)) AS q, @-@ path '[(0,0),(1,1)]' AS l FROM a",
    "SELECT id, to_tsvector('simple', 'w' || id) @@@ to_tsquery('simple', 'w1') AS m FROM a",
)
TYPES = (
    "SELECT id, (id::bit(4))::bit varying(3) AS v, (k::bit(8))::bit varying AS w FROM a",
    "SELECT id, (id * 123)::numeric(5, -2) AS n, ARRAY[id * 77]::numeric(5, -1)[] AS m FROM a",
    "SELECT (id * 123)::numeric(5, -2) AS n, count(*) AS c FROM a GROUP BY 1",
    "SELECT a.id, (a.id * b.v * 15)::numeric(6, -1) AS n FROM a JOIN b ON a.k = b.k",
    "SELECT id, (k * interval '90 seconds')::interval minute AS i, id::\"char\" AS c FROM a",
)
CLAUSES = (
    "SELECT x.k, a.id, b.v FROM a JOIN b USING (k) AS x",
    "SELECT x.k, k AS l, a.id, b.v FROM a FULL JOIN b USING (k) AS x WHERE x.k > 1 OR x.k IS NULL",
    "SELECT x.k, count(*) AS n, sum(y.k) AS s FROM a LEFT JOIN b USING (k) AS x JOIN c USING (k)"
    " AS y GROUP BY x.k",
    "SELECT a.id, v.n FROM a, LATERAL (VALUES (a.k), (a.id), (7) ORDER BY 1 DESC LIMIT 2) v(n)",
    "SELECT a.id FROM a WHERE a.k IN (VALUES (3), (1), (2) ORDER BY 1 LIMIT 2)",
    "SELECT a.id, v.n FROM a JOIN (VALUES (3, 'c'), (1, 'a'), (2, 'b') ORDER BY 1 LIMIT 2) v(k, n)"
    " ON v.k = a.k",
    "WITH w(k) AS (VALUES (1), (2), (3) ORDER BY 1 DESC OFFSET 1 LIMIT 1) SELECT a.id FROM a, w"
    " WHERE w.k = a.k",
    "SELECT q.k, q.id, q.v FROM (a JOIN b USING (k)) AS q",
    "SELECT q.k, q.v, c.z FROM (a FULL JOIN b USING (k)) q LEFT JOIN c ON c.k = q.k AND c.z > q.id",
    "SELECT q.x, q.w, count(*) AS n FROM (a LEFT JOIN b ON a.k = b.k AND b.v > 2) q(x, y, u, w)"
    " WHERE q.x < 9 GROUP BY q.x, q.w",
    "SELECT r.k, r.id, r.z, upper(r.id || 'x' || r.z) AS u FROM ((a JOIN b USING (k)) q"
    " NATURAL LEFT JOIN c) r WHERE EXISTS (SELECT FROM b WHERE b.v = r.v)",
    "SELECT a.id, q.n FROM a, (b CROSS JOIN generate_series(1, 2)) q(p, v, n) WHERE q.p = a.k",
    "SELECT a.id, v.n, b.v FROM a, ((VALUES (1, 'x'), (2, 'y')) v(k, n) JOIN b ON v.k = b.k)"
    " WHERE b.k = a.k",
    "SELECT a.id, v.n FROM a LEFT JOIN LATERAL (VALUES (1, 'x'), (2, 'y')) v(k, n) ON v.k = a.k",
    "VALUES (1, 'a'), (2, 'b')",
    "SELECT id, substring('x' || id || 'yz' SIMILAR 'x#\"%#\"yz' ESCAPE '#') AS s FROM a",
    "SELECT a.id, b.v, substring(a.id || 'y' || b.v SIMILAR '%y#\"%#\"' ESCAPE '#') AS s FROM a, b",
)


COMPOSITE = """
CREATE TYPE pair AS (x int, y numeric);
CREATE TABLE p (id int, r pair, s pair);
INSERT INTO p VALUES (1, '(1,1)', '(1,1.0)'), (2, '(1,1)', '(1,1)'), (3, '(2,)', NULL);
"""


@pytest.mark.parametrize("queries", [OTHER_OPERATORS, TYPES, CLAUSES])
@pytest.mark.filterwarnings("ignore::pgstream.client.PgStreamWarning")
def test_every_spelling(ps: PgStream, queries: tuple[str, ...]) -> None:
    script(with_three_tables(ps), COMPOSITE)
    assert_all_stay_exact(ps, queries, (*CHANGES, RECORD_CHANGE))


FROM_XML = (
    "SELECT d.id, x.n, x.a, x.b FROM d, XMLTABLE('/r/e' PASSING d.doc COLUMNS n FOR ORDINALITY,"
    " a int PATH '@a', b text PATH '.' DEFAULT 'none') AS x",
    "SELECT d.id, x.a FROM d LEFT JOIN XMLTABLE('/r/e' PASSING d.doc COLUMNS a int PATH '@a')"
    " AS x(a) ON x.a > 1",
    "SELECT x.a, count(*) AS n FROM d, XMLTABLE('/r/e' PASSING BY REF d.doc COLUMNS"
    " a int PATH '@a') AS x GROUP BY x.a",
)


def test_xmltable(ps: PgStream) -> None:
    try:
        ps.execute("SELECT '<r/>'::xml")
    except PgStreamError:
        pytest.skip("the server is built without libxml")
    script(
        ps,
        "CREATE TABLE d (id int, doc xml);"
        " INSERT INTO d VALUES (1, '<r><e a=\"1\">x</e><e a=\"2\"/></r>'), (2, '<r/>'), (3, NULL)",
    )
    assert_all_stay_exact(
        ps,
        FROM_XML,
        (
            "INSERT INTO d VALUES (4, '<r><e a=\"2\">z</e></r>')",
            "UPDATE d SET doc = '<r><e a=\"3\"/></r>' WHERE id = 2; DELETE FROM d WHERE id = 1",
        ),
    )
