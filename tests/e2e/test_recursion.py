"""WITH RECURSIVE: the change of a recursive CTE is computed from what changed."""

from __future__ import annotations

import random

import pytest

from helpers import assert_exact, create_exact, refresh_exact, rows, script
from pgstream.catalog.records import Action
from pgstream.client import PgStream
from pgstream.errors import RecursionLimit, UnsupportedConstruct
from pgstream.settings import Settings

TREE = """
WITH RECURSIVE tree AS (
    SELECT id, name, parent_id, name AS path, 0 AS depth
    FROM departments
    WHERE parent_id IS NULL
    UNION ALL
    SELECT d.id, d.name, d.parent_id, tree.path || ' > ' || d.name AS path, tree.depth + 1
    FROM departments d
    JOIN tree ON d.parent_id = tree.id
)
"""
TUTORIAL = TREE + "SELECT id, name, parent_id, path, depth FROM tree"
REACHED = """
WITH RECURSIVE reached AS (
    SELECT id AS node FROM starts
    UNION
    SELECT e.target FROM reached r JOIN edges e ON e.source = r.node
)
SELECT node FROM reached
"""
PAIRS = """
WITH RECURSIVE pairs(a, b) AS (
    SELECT source, target FROM edges
    UNION
    SELECT p.a, e.target FROM pairs p JOIN edges e ON e.source = p.b
)
SELECT a, b FROM pairs
"""


@pytest.fixture
def tree(ps: PgStream) -> PgStream:
    script(
        ps,
        "CREATE TABLE departments (id int PRIMARY KEY, name text, parent_id int)",
        "CREATE INDEX ON departments (parent_id)",
        "INSERT INTO departments VALUES (1, 'Company', NULL), (2, 'Engineering', 1),"
        " (3, 'Sales', 1), (4, 'Operations', 1), (5, 'Backend', 2), (6, 'Frontend', 2),"
        " (7, 'Platform', 2), (8, 'Storage', 5), (20, 'Island', 99)",
    )
    return ps


@pytest.fixture
def graph(ps: PgStream) -> PgStream:
    script(
        ps,
        "CREATE TABLE starts (id int)",
        "CREATE TABLE edges (source int, target int, weight int DEFAULT 1)",
        "CREATE INDEX ON edges (source)",
        "CREATE INDEX ON edges (target)",
        "INSERT INTO starts VALUES (1)",
    )
    return ps


def connect(ps: PgStream, *edges: tuple[int, int]) -> None:
    values = ", ".join(f"({source}, {target})" for source, target in edges)
    ps.execute(f"INSERT INTO edges (source, target) VALUES {values}")


def cut(ps: PgStream, source: int, target: int) -> None:
    ps.execute(f"DELETE FROM edges WHERE source = {source} AND target = {target}")


def hidden_tables(ps: PgStream) -> list[str]:
    found = ps.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'pgstream_state'")
    return [name for (name,) in found]


# --- trees: UNION ALL ---------------------------------------------------------------------------


@pytest.mark.parametrize("query", [
    TUTORIAL,
    TREE + "SELECT path, id FROM tree WHERE depth > 0",
    """WITH RECURSIVE reports AS (
         SELECT id, name, parent_id FROM departments WHERE parent_id IS NULL
         UNION ALL
         SELECT d.id, d.name, d.parent_id FROM departments d JOIN reports r ON d.parent_id = r.id)
       SELECT * FROM reports""",
    TREE + """SELECT t.name, count(c.id) AS below, min(c.depth) AS nearest
         FROM tree t LEFT JOIN tree c ON c.parent_id = t.id GROUP BY t.name""",
    TREE + """SELECT a.path, b.name AS other FROM tree a JOIN tree b
         ON a.depth = b.depth AND a.id < b.id""",
], ids=["whole", "fewer columns", "no level", "joined and grouped", "used twice"])  # fmt: skip
def test_a_tree_changes(tree: PgStream, query: str) -> None:
    create_exact(tree, "st", query)
    for changes in (
        "UPDATE departments SET name = 'Store' WHERE id = 8",
        "UPDATE departments SET name = 'R&D' WHERE id = 2",
        "UPDATE departments SET parent_id = 3 WHERE id = 5",
        "INSERT INTO departments VALUES (9, 'Cache', 8), (10, 'Other', NULL), (11, 'Deep', 10)",
        "UPDATE departments SET parent_id = 11 WHERE id = 1",
        "UPDATE departments SET parent_id = NULL WHERE id = 1",
        "DELETE FROM departments WHERE id IN (5, 8, 9)",
        "DELETE FROM departments WHERE id = 2",
        "INSERT INTO departments VALUES (2, 'Again', 1)",
        "INSERT INTO departments VALUES (99, 'Bridge', 4);"
        "UPDATE departments SET name = name || '!' WHERE id IN (1, 6);"
        "UPDATE departments SET parent_id = 20 WHERE id = 7; DELETE FROM departments WHERE id = 3",
        "CREATE TABLE kept AS TABLE departments; DELETE FROM departments",
        "INSERT INTO departments SELECT * FROM kept",
    ):
        script(tree, *changes.split(";"))
        assert refresh_exact(tree, "st").action is Action.DIFFERENTIAL, changes
    refresh_exact(tree, "st", full=True)


@pytest.mark.parametrize("columns", ["id, name, parent_id, path, depth", "id, name", "count(*)"])
def test_a_subtree_that_moves_below_itself_is_gone(tree: PgStream, columns: str) -> None:
    """Cut off, its rows form a cycle; they must not keep each other alive."""
    create_exact(tree, "st", TREE + f"SELECT {columns} FROM tree")
    create_exact(tree, "plain", """
        WITH RECURSIVE t AS (
            SELECT id FROM departments WHERE parent_id IS NULL
            UNION ALL
            SELECT d.id FROM departments d JOIN t ON d.parent_id = t.id)
        SELECT id FROM t""")  # fmt: skip
    script(tree, "UPDATE departments SET parent_id = 8 WHERE id = 2")
    refresh_exact(tree, "st")
    refresh_exact(tree, "plain")
    script(tree, "UPDATE departments SET parent_id = 1 WHERE id = 2")
    refresh_exact(tree, "st")
    refresh_exact(tree, "plain")


@pytest.mark.usual_way
def test_the_work_is_the_subtree(ps: PgStream) -> None:
    """Renaming a department in a tree of 10,000 reads and writes its subtree only."""
    script(
        ps,
        "CREATE TABLE departments (id int PRIMARY KEY, name text NOT NULL,"
        " parent_id int REFERENCES departments (id))",
        "CREATE INDEX ON departments (parent_id)",
        "INSERT INTO departments SELECT i, 'd' || i, CASE WHEN i > 1 THEN i / 6 + 1 END"
        " FROM generate_series(1, 10000) i WHERE i <> 1 OR true",
        "UPDATE departments SET parent_id = NULL WHERE id = 1",
        "UPDATE departments SET parent_id = 1 WHERE parent_id = id",
        "ANALYZE departments",
    )
    create_exact(ps, "department_tree", TUTORIAL)
    ((everything, subtree),) = ps.execute(
        "SELECT count(*), count(*) FILTER (WHERE path || ' > ' LIKE '% > d37 > %')"
        " FROM department_tree"
    )
    assert everything == 10_000
    assert 20 < subtree < 1_000
    script(ps, "UPDATE departments SET name = 'renamed' WHERE id = 37")
    result = refresh_exact(ps, "department_tree")
    assert result.action is Action.DIFFERENTIAL
    assert (result.rows_inserted, result.rows_deleted) == (subtree, subtree)
    # The parent in the tree, the children of the renamed one, and those of every row below.
    assert result.rows_read <= subtree + 2
    assert hidden_tables(ps) == []


def test_duplicates_are_counted(graph: PgStream) -> None:
    """In a DAG a node is reached as often as there are paths."""
    query = """
        WITH RECURSIVE walk AS (
            SELECT id AS node FROM starts
            UNION ALL
            SELECT e.target FROM walk w JOIN edges e ON e.source = w.node)
        SELECT node FROM walk"""
    connect(graph, (1, 2), (1, 3), (2, 4), (3, 4), (4, 5), (4, 6), (5, 7), (6, 7))
    create_exact(graph, "st", query)
    assert rows(graph, "st").count((7,)) == 4
    connect(graph, (2, 4))
    refresh_exact(graph, "st")
    assert rows(graph, "st").count((7,)) == 6
    cut(graph, 3, 4)
    refresh_exact(graph, "st")
    script(graph, "INSERT INTO starts VALUES (1), (4)")
    refresh_exact(graph, "st")
    script(graph, "DELETE FROM starts", "UPDATE edges SET target = 8 WHERE source = 6")
    refresh_exact(graph, "st")
    script(graph, "INSERT INTO starts VALUES (3), (6), (NULL)")
    connect(graph, (3, 6), (8, 9))
    refresh_exact(graph, "st")


# --- graphs: UNION ------------------------------------------------------------------------------


def test_two_paths_of_which_one_is_cut(graph: PgStream) -> None:
    connect(graph, (1, 2), (2, 3), (1, 4), (4, 3), (3, 5))
    create_exact(graph, "st", REACHED)
    cut(graph, 2, 3)
    result = refresh_exact(graph, "st")
    assert (result.rows_inserted, result.rows_deleted) == (0, 0)
    cut(graph, 4, 3)
    refresh_exact(graph, "st")
    assert rows(graph, "st") == [(1,), (2,), (4,)]


def test_a_cycle_does_not_keep_itself_alive(graph: PgStream) -> None:
    connect(graph, (1, 2), (2, 3), (3, 4), (4, 2), (5, 5))
    create_exact(graph, "st", REACHED)
    cut(graph, 1, 2)
    refresh_exact(graph, "st")
    assert rows(graph, "st") == [(1,)]
    connect(graph, (1, 4))
    refresh_exact(graph, "st")
    assert rows(graph, "st") == [(1,), (2,), (3,), (4,)]
    script(graph, "UPDATE edges SET source = target, target = source WHERE source = 3")
    refresh_exact(graph, "st")
    connect(graph, (3, 5), (1, 1))
    refresh_exact(graph, "st")
    cut(graph, 5, 5)
    cut(graph, 1, 1)
    refresh_exact(graph, "st")
    script(graph, "DELETE FROM starts")
    refresh_exact(graph, "st")
    assert rows(graph, "st") == []


@pytest.mark.usual_way
def test_insertions_read_what_they_reach(graph: PgStream) -> None:
    script(graph, "INSERT INTO edges SELECT i, i + 1 FROM generate_series(1000, 9000) i")
    connect(graph, (1, 2), (20, 21), (21, 22))
    create_exact(graph, "st", REACHED)
    connect(graph, (2, 20), (22, 1))
    result = refresh_exact(graph, "st")
    assert (result.rows_inserted, result.rows_deleted) == (3, 0)
    assert result.rows_read < 20


@pytest.mark.parametrize("query", [REACHED, PAIRS, """
    WITH RECURSIVE r AS (
        SELECT id AS node, NULL::int AS via FROM starts
        UNION
        SELECT e.target, e.source FROM r LEFT JOIN edges e ON e.source = r.node AND e.weight < 3)
    SELECT via, node FROM r""", """
    WITH RECURSIVE r(n, hops) AS (
        SELECT id, 0 FROM starts
        UNION
        SELECT e.target, r.hops + 1 FROM r JOIN edges e ON e.source = r.n
        WHERE r.hops < 3 AND NOT EXISTS (SELECT FROM starts s WHERE s.id = e.target))
    SELECT n, min(hops) AS hops FROM r GROUP BY n""", """
    WITH RECURSIVE w(n, k) AS (
        SELECT id, 0 FROM starts
        UNION ALL
        SELECT e.target, w.k + 1 FROM w JOIN edges e ON e.source = w.n WHERE w.k < 3)
    SELECT k, n FROM w""", """
    WITH RECURSIVE w(n, tail) AS (
        SELECT id, 3 FROM starts
        UNION ALL
        SELECT e.target, w.tail - 1 FROM w JOIN edges e ON e.source = w.n WHERE w.tail > 0)
    SELECT n, count(*) AS paths FROM w GROUP BY n"""],
    ids=["reached", "pairs", "left join", "not exists", "walks", "walks counted"])  # fmt: skip
def test_random_graphs(graph: PgStream, query: str) -> None:
    seed = random.SystemRandom().randrange(2**32)
    dice = random.Random(seed)
    create_exact(graph, "st", query)
    for _ in range(12):
        for _ in range(dice.randint(1, 4)):
            one, other = dice.randint(1, 7), dice.randint(1, 7)
            graph.execute(dice.choice((
                f"INSERT INTO edges VALUES ({one}, {other}, {dice.randint(1, 4)})",
                f"INSERT INTO edges VALUES ({one}, {other}), ({other}, {dice.randint(1, 7)})",
                f"DELETE FROM edges WHERE source = {one} AND target > {other}",
                f"UPDATE edges SET target = {other} WHERE source = {one}",
                f"UPDATE edges SET weight = weight % 4 + 1 WHERE source IN ({one}, {other})",
                "UPDATE edges SET source = target, target = source"
                f" WHERE {one} IN (source, target)",
                f"INSERT INTO starts VALUES ({one})",
                f"DELETE FROM starts WHERE id = {one}",
            )))  # fmt: skip
        try:
            refresh_exact(graph, "st")
        except AssertionError as error:
            raise AssertionError(f"seed {seed}") from error


# --- shapes -------------------------------------------------------------------------------------


def test_a_counter_joined_with_a_table(graph: PgStream) -> None:
    create_exact(graph, "st", """
        WITH RECURSIVE t(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM t WHERE n < 5)
        SELECT t.n, e.target FROM t JOIN edges e ON e.source = t.n""")  # fmt: skip
    connect(graph, (1, 10), (5, 50), (6, 60))
    refresh_exact(graph, "st")
    cut(graph, 5, 50)
    refresh_exact(graph, "st")
    assert rows(graph, "st") == [(1, 10)]


def test_the_level_goes_through_subqueries_of_the_recursive_term(graph: PgStream) -> None:
    create_exact(graph, "st", """
        WITH RECURSIVE r(n) AS (
            SELECT id FROM starts
            UNION ALL
            (WITH x(t, n) AS (
                 SELECT q.target, q.n
                 FROM (SELECT e.target, r.n FROM r JOIN edges e ON e.source = r.n) q)
             SELECT t FROM x WHERE t > n))
        SELECT n FROM r""")  # fmt: skip
    connect(graph, (1, 2), (2, 3), (1, 3), (3, 1))
    refresh_exact(graph, "st")
    script(graph, "UPDATE edges SET target = 4 WHERE source = 1 AND target = 3")
    refresh_exact(graph, "st")
    assert rows(graph, "st") == [(1,), (2,), (3,), (4,)]


def test_one_recursion_over_another(graph: PgStream) -> None:
    create_exact(graph, "st", """
        WITH RECURSIVE b AS (
            SELECT node FROM a WHERE node > 2
            UNION ALL
            SELECT e.weight FROM b JOIN edges e ON e.target = b.node JOIN a ON a.node = e.source
            WHERE e.weight > b.node
        ), a AS (
            SELECT id AS node FROM starts
            UNION
            SELECT e.target FROM a JOIN edges e ON e.source = a.node
        )
        SELECT 'b' AS which, node FROM b UNION ALL SELECT 'a', node FROM a""")  # fmt: skip
    script(graph, "INSERT INTO edges VALUES (1, 2, 1), (2, 3, 4), (3, 4, 5), (4, 2, 9)")
    refresh_exact(graph, "st", full=True)
    assert len(hidden_tables(graph)) == 2
    script(graph, "UPDATE edges SET weight = 7 WHERE target = 3")
    refresh_exact(graph, "st")
    cut(graph, 2, 3)
    refresh_exact(graph, "st")
    graph.drop_stream_table("st")
    assert hidden_tables(graph) == []


def test_equal_values_that_are_written_differently(graph: PgStream) -> None:
    """The rows of a recursive CTE come from Spark: no scan computes what they are equal by."""
    script(graph, "CREATE TABLE docs (id int, doc jsonb)")
    script(graph, """INSERT INTO docs VALUES (1, '1.0'), (2, '1'), (3, '{"a": 2}'), (4, NULL)""")
    create_exact(graph, "st", """
        WITH RECURSIVE r(doc, n) AS (
            SELECT doc, 0 FROM docs
            UNION ALL
            SELECT r.doc, r.n + 1 FROM r WHERE r.n < 2)
        SELECT DISTINCT doc FROM r""")  # fmt: skip
    script(graph, """INSERT INTO docs VALUES (5, '{"a": 2.0}'), (6, '[]')""")
    refresh_exact(graph, "st")
    script(graph, "DELETE FROM docs WHERE id IN (1, 2, 4)")
    refresh_exact(graph, "st")


def test_in_a_subquery_of_another_query(graph: PgStream) -> None:
    create_exact(graph, "st", """
        SELECT e.source, e.target, q.n FROM edges e
        LEFT JOIN (
            WITH RECURSIVE r AS (
                SELECT id AS node FROM starts
                UNION
                SELECT e.target FROM r JOIN edges e ON e.source = r.node)
            SELECT node, count(*) AS n FROM r GROUP BY node) q ON q.node = e.target
        WHERE e.source NOT IN (
            WITH RECURSIVE up AS (
                SELECT id AS node FROM starts
                UNION
                SELECT e.source FROM up JOIN edges e ON e.target = up.node)
            SELECT node FROM up)""")  # fmt: skip
    connect(graph, (1, 2), (2, 3), (3, 2), (7, 1), (8, 9))
    refresh_exact(graph, "st")
    cut(graph, 1, 2)
    refresh_exact(graph, "st")
    connect(graph, (9, 8), (1, 9))
    refresh_exact(graph, "st")


def test_a_stream_table_over_a_recursive_one(tree: PgStream) -> None:
    create_exact(tree, "department_tree", TUTORIAL)
    create_exact(tree, "levels", "SELECT depth, count(*) AS n FROM department_tree GROUP BY depth")
    create_exact(tree, "below", """
        WITH RECURSIVE b AS (
            SELECT id, id AS top FROM department_tree WHERE depth = 1
            UNION
            SELECT t.id, b.top FROM department_tree t JOIN b ON t.parent_id = b.id)
        SELECT top, id FROM b""")  # fmt: skip
    script(tree, "UPDATE departments SET parent_id = 4 WHERE id = 5")
    refresh_exact(tree, "levels", "department_tree")
    refresh_exact(tree, "below", "department_tree")
    script(
        tree, "DELETE FROM departments WHERE id = 4", "INSERT INTO departments VALUES (4, '', 1)"
    )
    refresh_exact(tree, "below", "department_tree")


def test_a_new_row_and_its_last_partner_gone_at_once(graph: PgStream) -> None:
    """The partner is in a stream table of the same cycle: stored still, with a pending −1."""
    connect(graph, (1, 2), (5, 6))
    create_exact(graph, "light", "SELECT source, target FROM edges WHERE weight < 3")
    create_exact(graph, "st", """
        WITH RECURSIVE r(node, via, k) AS (
            SELECT id, NULL::int, 0 FROM starts
            UNION ALL
            SELECT l.target, r.node, r.k + 1 FROM r LEFT JOIN light l ON l.source = r.node
            WHERE r.k < 3)
        SELECT node, via, k FROM r""")  # fmt: skip
    script(graph, "INSERT INTO starts VALUES (5)", "DELETE FROM edges WHERE source = 5")
    refresh_exact(graph, "st", "light")


def test_types_and_nulls(graph: PgStream) -> None:
    script(
        graph,
        "CREATE TABLE parts (part text, of text, share numeric, at timestamptz, tags int[])",
        "INSERT INTO parts VALUES ('a', NULL, 1, '2024-01-01 00:00+02', '{1}'),"
        " ('b', 'a', 0.50, NULL, NULL), ('c', 'b', 0.250, 'infinity', '{}'),"
        " (NULL, 'b', 0.1, NULL, '{2,3}'), ('d', NULL, 2.0, 'now', NULL)",
    )
    create_exact(graph, "st", """
        WITH RECURSIVE p AS (
            SELECT part, of, share, at, tags FROM parts WHERE of IS NULL
            UNION ALL
            SELECT q.part, q.of, p.share * q.share, coalesce(q.at, p.at), q.tags || p.tags
            FROM parts q JOIN p ON q.of = p.part)
        SELECT * FROM p""")  # fmt: skip
    create_exact(graph, "known", """
        WITH RECURSIVE p AS (
            SELECT part, share FROM parts WHERE of IS NULL
            UNION
            SELECT q.part, q.share FROM parts q JOIN p ON q.of = p.part)
        SELECT share, part FROM p""")  # fmt: skip
    for changes in (
        "UPDATE parts SET share = 0.5 WHERE part = 'b'",
        "UPDATE parts SET share = 4.00 WHERE part = 'a'",
        "INSERT INTO parts VALUES ('c', 'a', 0.25, NULL, NULL), ('a', 'c', 9, NULL, NULL);"
        "DELETE FROM parts WHERE part = 'a' AND of = 'c'",
        "UPDATE parts SET of = 'd' WHERE part = 'b'",
        "DELETE FROM parts WHERE part IS NULL",
    ):
        script(graph, *changes.split(";"))
        refresh_exact(graph, "st")
        refresh_exact(graph, "known")


def test_a_full_refresh_keeps_the_hidden_rows_right(graph: PgStream) -> None:
    query = REACHED.replace("SELECT node FROM reached", "SELECT count(*) AS n FROM reached")
    connect(graph, (1, 2), (2, 3))
    create_exact(graph, "st", query)
    script(graph, "TRUNCATE edges", "INSERT INTO edges VALUES (1, 5), (5, 6)")
    assert refresh_exact(graph, "st").action is Action.FULL
    connect(graph, (6, 7))
    assert refresh_exact(graph, "st").action is Action.DIFFERENTIAL
    cut(graph, 1, 5)
    refresh_exact(graph, "st")
    assert rows(graph, "st") == [(1,)]
    create_exact(graph, "in_full", query, refresh_mode="FULL")
    connect(graph, (1, 9))
    refresh_exact(graph, "in_full")


# --- limits -------------------------------------------------------------------------------------


class TestEndless:
    @pytest.fixture
    def settings(self) -> Settings:
        return Settings(differential_max_change_ratio=0.0, min_schedule_seconds=1, max_recursion=20)

    def test_endless_recursion_is_an_error_and_can_be_repaired(self, tree: PgStream) -> None:
        script(tree, "ALTER TABLE departments DROP CONSTRAINT departments_pkey")
        create_exact(tree, "st", TUTORIAL)
        create_exact(tree, "n", TREE + "SELECT count(*) AS n FROM tree")
        before = rows(tree, "st"), rows(tree, "n")
        script(tree, "INSERT INTO departments VALUES (2, 'Twice', 8)")
        for name in ("st", "n"):
            with pytest.raises(RecursionLimit, match="tree") as caught:
                tree.refresh_stream_table(name)
            assert "max_recursion" in (caught.value.hint or "")
        assert (rows(tree, "st"), rows(tree, "n")) == before
        script(tree, "DELETE FROM departments WHERE name = 'Twice'", "UPDATE departments"
               " SET name = 'Sale' WHERE id = 3")  # fmt: skip
        refresh_exact(tree, "st")
        refresh_exact(tree, "n")

    def test_endless_at_creation_leaves_nothing(self, tree: PgStream) -> None:
        with pytest.raises(RecursionLimit):
            tree.create_stream_table("st", """
                WITH RECURSIVE t(n) AS (
                    SELECT id FROM departments UNION ALL SELECT n + 1 FROM t)
                SELECT n FROM t""")  # fmt: skip
        assert tree.status() == []
        assert hidden_tables(tree) == []


@pytest.mark.parametrize(("step", "word"), [
    ("SELECT DISTINCT e.target FROM r JOIN edges e ON e.source = r.n", "DISTINCT"),
    ("SELECT e.target FROM r JOIN edges e ON e.source = r.n GROUP BY e.target", "GROUP BY"),
    ("SELECT rank() OVER (ORDER BY n)::int FROM r", "window"),
    ("SELECT q.n FROM (SELECT n FROM r UNION ALL SELECT 7) q WHERE q.n < 3", "UNION"),
])  # fmt: skip
def test_what_is_not_linear_is_refused(graph: PgStream, step: str, word: str) -> None:
    query = f"WITH RECURSIVE r(n) AS (SELECT id FROM starts UNION {step}) SELECT n FROM r"
    with pytest.raises(UnsupportedConstruct, match=rf"\br\b.*{word}"):
        graph.create_stream_table("st", query)
    assert graph.status() == []


def test_a_name_that_is_not_recursive_is_an_ordinary_cte(graph: PgStream) -> None:
    create_exact(graph, "st", """
        WITH RECURSIVE late AS (SELECT a FROM early WHERE a > 1),
                       early(a) AS (SELECT source FROM edges)
        SELECT a FROM late""")  # fmt: skip
    connect(graph, (1, 2), (2, 3))
    refresh_exact(graph, "st")
    assert_exact(graph, "st")
    assert rows(graph, "st") == [(2,)]
