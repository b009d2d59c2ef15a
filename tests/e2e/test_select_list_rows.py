"""Functions that return rows in the SELECT list."""

from __future__ import annotations

import pytest

from helpers import assert_all_stay_exact, script
from pgstream.client import PgStream
from pgstream.errors import UnsupportedConstruct

TABLES = """
CREATE TABLE t (id int, g text, tags text[], n int, doc jsonb);
INSERT INTO t VALUES (1, 'a', '{x,y,x}', 2, '{"k": 1, "l": [1, 2]}'), (2, 'a', '{}', 3, '{}'),
    (3, 'b', NULL, NULL, NULL), (4, NULL, '{z,NULL}', 0, '{"k": null}'), (4, 'b', '{x}', 1, '{}');
CREATE FUNCTION twice(a text) RETURNS SETOF text LANGUAGE sql IMMUTABLE
    AS 'SELECT a UNION ALL SELECT a';
"""
QUERIES = (
    "SELECT id, upper(unnest(tags)) AS tag, generate_series(1, generate_series(1, n)) AS i,"
    " public.twice(g) AS g FROM t",
    "SELECT unnest(tags) AS tag, count(*) AS n, sum(id) AS s FROM t WHERE id <> 3 GROUP BY 1",
    "SELECT g, unnest(array_agg(id ORDER BY id)) AS id, count(*) AS n FROM t GROUP BY g"
    " HAVING count(*) < 3",
    "SELECT DISTINCT (jsonb_each(doc)).key AS key, (jsonb_each(doc)).value AS value FROM t",
    "SELECT id, unnest(tags) AS tag FROM t WHERE n < 3 ORDER BY id, n LIMIT 3",
    "SELECT id, ARRAY(SELECT unnest(t.tags) ORDER BY 1) AS a, 'x' IN (SELECT unnest(t.tags)) AS b"
    " FROM t",
)
CHANGES = (
    "INSERT INTO t VALUES (5, 'c', '{y,w}', 3, '{\"k\": 1}'); DELETE FROM t WHERE id = 1;"
    " UPDATE t SET tags = array_append(tags, 'n') WHERE id = 4",
    "UPDATE t SET n = n + 1, g = 'b' WHERE id > 1; INSERT INTO t VALUES (0, 'a', '{q}', 1, '{}')",
)


def test_functions_that_return_rows(ps: PgStream) -> None:
    script(ps, TABLES)
    assert_all_stay_exact(ps, QUERIES, CHANGES)


@pytest.mark.parametrize("item", [
    "row_to_json(jsonb_each(doc))", "(unnest(ARRAY[ROW(id, n)::pair]))::text",
])  # fmt: skip
def test_what_is_refused(ps: PgStream, item: str) -> None:
    script(ps, TABLES, "CREATE TYPE pair AS (a int, b int)")
    with pytest.raises(UnsupportedConstruct, match="function"):
        ps.create_stream_table("st", f"SELECT id, {item} AS v FROM t")
