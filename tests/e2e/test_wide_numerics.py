"""Numerics that Spark does not hold: NaN, infinity, more than 38 digits.

What no expression on Spark reads travels as text, with every digit and trailing zero. Where Spark
would compute on such a value, PostgreSQL does.
"""

from __future__ import annotations

import pytest

from helpers import assert_exact, assert_same_text, create_exact, refresh_exact, script
from pgstream.catalog.records import Action
from pgstream.client import PgStream
from pgstream.settings import Settings

LONG, LONGER, LONGEST = "1" * 39, "9" * 30 + "." + "8" * 30, "7" * 100 + "." + "3" * 100
SMALL = "0." + "0" * 59 + "1"
STRANGE = ("NaN", "Infinity", "-Infinity", LONG, "-" + LONGER, LONGEST, SMALL)

TABLES = (
    "CREATE TABLE t (id int PRIMARY KEY, k int, x numeric, y numeric(50, 10), z numeric(5, -2),"
    " s numeric(60, 45));"
    " CREATE TABLE u (k int, x numeric, v numeric(12, 3))",
    "INSERT INTO t VALUES (1, 1, 1.50, 1.5, 12345, 0), (2, 1, 1.5, 2.25, NULL, NULL),"
    " (3, 2, 0.000, 0, -150, 1e-45), (4, 2, NULL, NULL, 100, 1.5), (5, 3, 100, 100, 0, 100)",
    "INSERT INTO u VALUES (1, 1.500, 1.5), (2, 100.0, 100), (3, NULL, NULL), (1, 7, 7)",
)
CHANGES = (
    "INSERT INTO t SELECT 10 + i, i % 4, x::numeric, CASE WHEN i IN (1, 4) THEN x::numeric END"
    f" FROM unnest(ARRAY{list(STRANGE)}) WITH ORDINALITY AS given(x, i);"
    " INSERT INTO u VALUES (1, 'NaN', NULL), (2, 'Infinity', 'NaN'),"
    f" (3, {LONG}, NULL), (0, '-{LONGER}', 5)",
    # Only zeros change; strange values take each other's place, or become ordinary ones.
    "UPDATE t SET x = 1.5 WHERE id = 1; UPDATE t SET x = 1.500 WHERE id = 2;"
    " UPDATE t SET x = 0, y = 'NaN' WHERE id = 3; UPDATE t SET x = '-Infinity' WHERE x = 'NaN';"
    " UPDATE u SET x = 1.50 WHERE x = 'NaN'; UPDATE t SET k = k + 1 WHERE id > 12",
    f"DELETE FROM t WHERE x < 'Infinity' AND x > 1e30; DELETE FROM u WHERE x = {LONG};"
    " INSERT INTO t (id, k, x) VALUES (30, 1, 'NaN'), (31, 1, 'NaN'), (32, 1, 1.5)",
    "DELETE FROM t WHERE id > 5; DELETE FROM u WHERE x > 1000 OR x < 0; UPDATE t SET y = 1",
)
CARRIED = (
    "SELECT * FROM t",
    "SELECT t.id, t.x, t.y, t.z, t.s, u.v FROM t LEFT JOIN u ON u.k = t.k",
    "SELECT x, y FROM t WHERE id <> 2 UNION ALL SELECT x, NULL FROM u",
    "SELECT q.k, q.x, coalesce(u.v, 0) AS v, CASE WHEN q.id > 3 THEN q.x END AS c"
    " FROM (SELECT id, k, x FROM t WHERE x IS NOT NULL) q LEFT JOIN u ON u.k = q.k",
    "SELECT id, x, row_number() OVER (PARTITION BY k ORDER BY id) AS place FROM t",
    "SELECT k, (SELECT t.x FROM t WHERE t.id = u.k) AS only FROM u",
    "SELECT * FROM t ORDER BY id DESC LIMIT 3",
    "SELECT x + 1 AS more, x > 1 AS is_more, -y AS minus FROM t WHERE x <> 1.5",
)
COMPUTED = (
    "SELECT k, sum(x) AS total, avg(x) AS mean, min(x) AS low, max(y) AS high, count(x) AS n,"
    " avg(k) AS middle, sum(id) AS ids FROM t GROUP BY k",
    "SELECT x, count(*) AS n, x + 1 AS more FROM t GROUP BY x",
    "SELECT DISTINCT x, y FROM t",
    "SELECT x FROM t EXCEPT SELECT x FROM u",
    "SELECT x FROM t INTERSECT ALL SELECT x FROM u",
    "SELECT x FROM t UNION SELECT v FROM u",
    "SELECT t.id, u.x, u.v FROM t JOIN u ON u.x = t.x",
    "SELECT t.id, u.k FROM t LEFT JOIN u ON u.v = t.y",
    "SELECT t.id, t.x + u.x AS added, t.x * u.v AS times FROM t JOIN u ON u.k = t.k",
    "SELECT t.id, u.x FROM t JOIN u ON u.x < t.x AND u.k = t.k",
    "SELECT id, rank() OVER (ORDER BY x) AS place, sum(x) OVER (PARTITION BY k) AS total,"
    " lag(x) OVER (ORDER BY id) AS before FROM t",
    "SELECT id, x FROM t WHERE x IN (SELECT x FROM u) OR y > ALL (SELECT v FROM u)",
    "SELECT k, x FROM t ORDER BY x DESC NULLS LAST, id LIMIT 4",
    "SELECT q.k, q.total, u.v FROM (SELECT k, sum(x) AS total, avg(id) AS mean FROM t GROUP BY k) q"
    " JOIN u ON u.k = q.k",
    "SELECT t.id, u.k FROM t JOIN u ON u.v = t.id",
)


def name_of(kind: str, number: int) -> str:
    return f"{kind}_{number}"


def tables(ps: PgStream) -> list[str]:
    script(ps, *TABLES)
    names = []
    for kind, queries in (("carried", CARRIED), ("computed", COMPUTED)):
        for i, query in enumerate(queries):
            create_exact(ps, f"{kind}_{i}", query)
            names.append(f"{kind}_{i}")
    return names


def test_they_come_and_go(ps: PgStream) -> None:
    names = tables(ps)
    for change in CHANGES:
        ps.execute(change)
        for name in names:
            try:
                print(name, ps.refresh_stream_table(name).reason)
                assert_exact(ps, name)
                if name.startswith("carried"):
                    assert_same_text(ps, name)
            except Exception as e:
                print("FAIL", name, type(e), str(e)[:600])
    assert 0
