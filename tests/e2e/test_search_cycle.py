"""SEARCH and CYCLE of WITH RECURSIVE: the order of rows, and where they go round."""

from __future__ import annotations

import pytest

from helpers import assert_all_stay_exact, script
from pgstream.client import PgStream
from pgstream.errors import UnsupportedConstruct

TREE = """WITH RECURSIVE r(id, up, name, size) AS (
    SELECT id, up, name, size FROM tree WHERE up IS NULL
    UNION ALL SELECT t.id, t.up, t.name, t.size FROM tree t JOIN r ON t.up = r.id) """
WALKS = """WITH RECURSIVE w(a, b) AS (
    SELECT a, b FROM edges WHERE a = 1 UNION {all} SELECT e.a, e.b FROM w JOIN edges e ON e.a = w.b)
    """
QUERIES = (
    TREE + "SEARCH DEPTH FIRST BY name SET o SELECT id, row_number() OVER (ORDER BY o, id) AS n,"
    " rank() OVER (ORDER BY o DESC) AS m FROM r",
    TREE + "SEARCH DEPTH FIRST BY size, id SET o SELECT id, name FROM r ORDER BY o LIMIT 3",
    TREE + "SEARCH BREADTH FIRST BY name, id SET o SELECT array_agg(id ORDER BY o) AS ids,"
    " array_agg(id ORDER BY o DESC) AS di FROM (SELECT id, name, o FROM r) s",
    WALKS.format(all="ALL") + "CYCLE b SET is_cycle USING path SELECT a, b, is_cycle FROM w",
    WALKS.format(all="") + "SEARCH DEPTH FIRST BY a, b SET o CYCLE a, b SET again TO 'Y'"
    " DEFAULT 'N' USING path SELECT a, b, again, row_number() OVER (ORDER BY o) AS n FROM w",
)  # fmt: skip
CHANGES = (
    "INSERT INTO tree VALUES (6, 2, NULL, 5), (7, 9, 'z', 1); UPDATE tree SET name = 'a' WHERE id"
    " = 3; INSERT INTO edges VALUES (4, 5), (5, 1), (NULL, 2)",
    "DELETE FROM tree WHERE id = 2; UPDATE tree SET up = 1 WHERE up = 2; DELETE FROM edges WHERE"
    " b = 2; INSERT INTO edges VALUES (1, NULL), (1, 4)",
)


@pytest.fixture
def graph(ps: PgStream) -> PgStream:
    script(
        ps,
        "CREATE TABLE tree (id int, up int, name text, size int);"
        " CREATE TABLE edges (a int, b int)",
        "INSERT INTO tree VALUES (1, NULL, 'x', 3), (2, 1, 'c', NULL), (3, 1, 'b', 2),"
        " (4, 2, 'b', 2), (5, 2, 'B', 2), (8, NULL, 'x', 3)",
        "INSERT INTO edges VALUES (1, 2), (2, 3), (3, 1), (3, 4), (1, 1)",
    )
    return ps


def test_search_and_cycle(graph: PgStream) -> None:
    assert_all_stay_exact(graph, QUERIES, CHANGES)


@pytest.mark.parametrize("use", [
    "SELECT o::text AS t FROM r", "SELECT id FROM r WHERE o IS NULL",
    "SELECT count(DISTINCT s.p) AS n FROM (SELECT o AS p FROM r) s",
    "SELECT o = LAG(o) OVER (ORDER BY o) AS n FROM r",
])  # fmt: skip
def test_what_shows_a_record_is_refused(graph: PgStream, use: str) -> None:
    with pytest.raises(UnsupportedConstruct, match="column o of SEARCH can be sorted by"):
        graph.create_stream_table("st", f"{TREE} SEARCH BREADTH FIRST BY id SET o {use}")
