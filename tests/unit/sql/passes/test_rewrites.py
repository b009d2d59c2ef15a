"""The shapes of the rewrites, before and after. Their meaning is tested on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import pytest

from pgstream.errors import UnsupportedConstruct
from pgstream.sql.deparsed import parse_deparsed, write
from pgstream.sql.facts import Facts, Output
from pgstream.sql.grouping import grouping_sets as sets_of
from pgstream.sql.grouping import too_many
from pgstream.sql.parse import Query, parse
from pgstream.sql.passes import REWRITES, rewrite
from pgstream.sql.passes.above_grouping import above_grouping
from pgstream.sql.passes.array_subqueries import array_subqueries
from pgstream.sql.passes.distinct_on import distinct_on
from pgstream.sql.passes.grouping_sets import grouping_sets
from pgstream.sql.passes.named_windows import named_windows
from pgstream.sql.passes.quantified import quantified
from pgstream.sql.passes.refuse import REFUSALS, refuse
from pgstream.sql.passes.search_cycle import search_cycle
from pgstream.sql.passes.select_list_rows import select_list_rows
from pgstream.sql.passes.sorted_input import sorted_input
from pgstream.sql.passes.whole_rows import whole_rows

PAIRS = [
    pytest.param(
        named_windows,
        "SELECT sum(x) OVER w AS s, rank() OVER (w ORDER BY y) AS r FROM t"
        " WINDOW w AS (PARTITION BY k)",
        "SELECT SUM(x) OVER (PARTITION BY k) AS s, rank() OVER (PARTITION BY k ORDER BY y) AS r"
        " FROM t",
        id="named windows",
    ),
    pytest.param(
        named_windows,
        "SELECT sum(x) OVER v AS s FROM t"
        " WINDOW w AS (PARTITION BY k), v AS (w ORDER BY y ROWS 1 PRECEDING EXCLUDE TIES)",
        "SELECT SUM(x) OVER (PARTITION BY k ORDER BY y ROWS BETWEEN 1 PRECEDING AND CURRENT ROW"
        " EXCLUDE TIES) AS s FROM t",
        id="a named window on another",
    ),
    pytest.param(
        distinct_on,
        "SELECT DISTINCT ON (k) k, x AS v FROM t ORDER BY k, y DESC LIMIT 5",
        "SELECT __pgs_q.__pgs_c0 AS k, __pgs_q.__pgs_c1 AS v FROM"
        " (SELECT __pgs_p.__pgs_c0, __pgs_p.__pgs_c1, __pgs_p.__pgs_c2, row_number() OVER"
        " (PARTITION BY __pgs_p.__pgs_c0 ORDER BY __pgs_p.__pgs_c2 DESC) AS __pgs_n FROM"
        " (SELECT t.k AS __pgs_c0, t.x AS __pgs_c1, t.y AS __pgs_c2 FROM t) AS __pgs_p)"
        " AS __pgs_q WHERE (__pgs_q.__pgs_n = 1)"
        " ORDER BY __pgs_q.__pgs_c0, __pgs_q.__pgs_c2 DESC LIMIT 5",
        id="distinct on",
    ),
    pytest.param(
        array_subqueries,
        "SELECT id, ARRAY( SELECT u.x FROM u WHERE (u.k = t.k) ORDER BY u.y) AS a FROM t",
        "SELECT id, COALESCE((SELECT array_agg(u.x ORDER BY u.y) AS __pgs_array FROM u"
        " WHERE (u.k = t.k)), '{}') AS a FROM t",
        id="an array of rows",
    ),
    pytest.param(
        array_subqueries,
        "SELECT id, ARRAY( SELECT u.x FROM u ORDER BY u.y LIMIT 2) AS a FROM t",
        "SELECT id, COALESCE((SELECT array_agg(__pgs_a.__pgs_c0) AS __pgs_array FROM"
        " (SELECT u.x FROM u ORDER BY u.y LIMIT 2) AS __pgs_a(__pgs_c0)), '{}') AS a FROM t",
        id="an array of a query's first rows",
    ),
    pytest.param(
        sorted_input,
        "SELECT k, array_agg(x) AS a FROM ( SELECT t.k, t.x FROM t ORDER BY t.y DESC) s GROUP BY k",
        "SELECT k, array_agg(x ORDER BY s.__pgs_o DESC) AS a FROM"
        " (SELECT t.k, t.x, t.y AS __pgs_o FROM t ORDER BY t.y DESC) AS s GROUP BY k",
        id="a sorted subquery",
    ),
    pytest.param(
        sorted_input,
        "SELECT t.id, array_agg(e.e) AS a FROM t, LATERAL unnest(t.x) e(e) GROUP BY t.id",
        "SELECT t.id, array_agg(e.e ORDER BY e.__pgs_o) AS a FROM t,"
        " unnest(t.x) WITH ORDINALITY AS e(e, __pgs_o) GROUP BY t.id",
        id="the rows of a function",
    ),
    pytest.param(
        grouping_sets,
        "SELECT k, sum(x) AS s, GROUPING(k) AS b FROM t WHERE z GROUP BY ROLLUP(k)",
        "SELECT __pgs_g.__pgs_k0 AS k, SUM(__pgs_g.__pgs_a0) FILTER(WHERE __pgs_g.__pgs_row)"
        " AS s, CASE WHEN __pgs_g.__pgs_set = 0 THEN 0 ELSE 1 END AS b FROM"
        " (SELECT t.k AS __pgs_k0, t.x AS __pgs_a0, 0 AS __pgs_set, TRUE AS __pgs_row FROM t"
        " WHERE t.z UNION ALL"
        " SELECT CASE WHEN FALSE THEN t.k END AS __pgs_k0, t.x AS __pgs_a0, 1 AS __pgs_set,"
        " TRUE AS __pgs_row FROM t WHERE t.z UNION ALL"
        " SELECT NULL AS __pgs_k0, NULL AS __pgs_a0, 1 AS __pgs_set, FALSE AS __pgs_row)"
        " AS __pgs_g GROUP BY __pgs_g.__pgs_k0, __pgs_g.__pgs_set",
        id="rollup",
    ),
    pytest.param(
        grouping_sets,
        "SELECT k, count(*) AS n, GROUPING(k) AS b FROM t GROUP BY GROUPING SETS ((k))",
        "SELECT k AS k, COUNT(*) AS n, 0 AS b FROM t GROUP BY k",
        id="one grouping set",
    ),
    pytest.param(
        grouping_sets,
        "SELECT 1 AS one FROM t GROUP BY ()",
        "SELECT 1 AS one FROM t HAVING TRUE",
        id="only the empty set",
    ),
    pytest.param(
        above_grouping,
        "SELECT k, rank() OVER (ORDER BY (sum(x))) AS r FROM t GROUP BY k"
        " HAVING ((count(*) > 1) AND (sum(x) > ( SELECT min(u.x) AS min FROM u)))",
        "SELECT __pgs_g.__pgs_v1 AS k, rank() OVER (ORDER BY __pgs_g.__pgs_v0) AS r FROM"
        " (SELECT SUM(t.x) AS __pgs_v0, t.k AS __pgs_v1 FROM t GROUP BY t.k"
        " HAVING COUNT(*) > 1) AS __pgs_g"
        " WHERE __pgs_g.__pgs_v0 > (SELECT MIN(u.x) AS min FROM u)",
        id="window function and subquery above a grouping",
    ),
    pytest.param(
        quantified,
        "SELECT (x > ALL ( SELECT u.y FROM u)) AS b FROM t",
        "SELECT ((SELECT CASE WHEN COUNT(*) FILTER(WHERE NOT (t.x > __pgs_q.__pgs_c0)) > 0"
        " THEN FALSE WHEN COUNT(*) FILTER(WHERE (t.x > __pgs_q.__pgs_c0) IS NULL) > 0"
        " THEN CAST(NULL AS BOOLEAN) ELSE TRUE END AS __pgs_test FROM (SELECT u.y FROM u)"
        " AS __pgs_q(__pgs_c0))) AS b FROM t",
        id="all",
    ),
    pytest.param(
        quantified,
        "SELECT id FROM t WHERE (x = ANY ( SELECT u.y FROM u))",
        "SELECT id FROM t WHERE (x IN (SELECT u.y FROM u))",
        id="= any",
    ),
    pytest.param(
        quantified,
        "SELECT id FROM t WHERE ((k > 1) AND (x < ANY ( SELECT u.y FROM u)))",
        "SELECT id FROM t WHERE ((k > 1) AND (EXISTS(SELECT FROM (SELECT u.y FROM u)"
        " AS __pgs_q(__pgs_c0) WHERE (t.x < __pgs_q.__pgs_c0))))",
        id="any as a condition",
    ),
    pytest.param(
        quantified,
        "SELECT id FROM t WHERE (x < ALL ( SELECT u.y FROM u))",
        "SELECT id FROM t WHERE (NOT (EXISTS(SELECT FROM (SELECT u.y FROM u)"
        " AS __pgs_q(__pgs_c0) WHERE NOT (t.x < __pgs_q.__pgs_c0) IS TRUE)))",
        id="all as a condition",
    ),
    pytest.param(
        quantified,
        "SELECT (x <> ALL ( SELECT u.y FROM u)) AS b FROM t",
        "SELECT (NOT (x IN (SELECT u.y FROM u))) AS b FROM t",
        id="<> all",
    ),
]


@pytest.mark.parametrize(("one", "before", "after"), PAIRS)
def test_before_and_after(one, before: str, after: str) -> None:  # type: ignore[no-untyped-def]
    assert write(one(parse_deparsed(before))) == after


class NoFacts:
    """For queries about which nothing needs to be asked."""

    def outputs(self, query: str) -> NoReturn:
        raise AssertionError(query)

    def returning_rows(self, functions: object) -> dict[tuple[str, str], tuple[str, ...]]:
        return {}


class SomeFacts:
    """Every query has the columns a and b; unnest returns rows."""

    def outputs(self, query: str) -> list[Output]:
        return [Output(name, "integer", None) for name in ("a", "b")]

    def returning_rows(self, functions: object) -> dict[tuple[str, str], list[tuple[str, ...]]]:
        return {("pg_catalog", "unnest"): [()]}


@pytest.mark.parametrize(
    ("rewrite_", "before", "after"),
    [
        (
            whole_rows,
            "SELECT row_to_json(t.*) AS j FROM public.t",
            "SELECT row_to_json(CAST(ROW(t.a, t.b) AS public.t)) AS j FROM public.t",
        ),
        (
            whole_rows,
            "SELECT count(t.*) AS n FROM (u LEFT JOIN public.t ON (true))",
            "SELECT COUNT(t.__pgs_row) AS n FROM u LEFT JOIN (SELECT __pgs_t.a, __pgs_t.b,"
            " CAST(ROW(__pgs_t.a, __pgs_t.b) AS public.t) AS __pgs_row FROM public.t AS"
            " __pgs_t(a, b)) AS t ON TRUE",
        ),
        (
            whole_rows,
            "SELECT to_jsonb(s.*) AS j FROM ( SELECT t.x AS a FROM t) s",
            "SELECT to_jsonb((SELECT __pgs_w FROM (SELECT s.a AS a) __pgs_w)) AS j FROM"
            " (SELECT t.x AS a FROM t) AS s",
        ),
        (
            select_list_rows,
            "SELECT id, upper(unnest(tags)) AS tag FROM t WHERE (n > 0)",
            "SELECT __pgs_r.__pgs_v0 AS id, upper(__pgs_s.__pgs_c0) AS tag FROM (SELECT t.id AS"
            " __pgs_v0, t.tags AS __pgs_v1 FROM t WHERE (t.n > 0)) AS __pgs_r,"
            " unnest(__pgs_r.__pgs_v1) AS __pgs_s(__pgs_c0)",
        ),
        (
            select_list_rows,
            "SELECT unnest(tags) AS tag, count(*) AS n FROM t GROUP BY (unnest(tags))",
            "SELECT __pgs_s.__pgs_c0 AS tag, COUNT(*) AS n FROM (SELECT t.tags AS __pgs_v0 FROM t)"
            " AS __pgs_r, unnest(__pgs_r.__pgs_v0) AS __pgs_s(__pgs_c0)"
            " GROUP BY __pgs_s.__pgs_c0",
        ),
        (
            search_cycle,
            "WITH RECURSIVE r(a, b) AS (SELECT 1, 2 UNION ALL SELECT q.b, q.a FROM r q)"
            " SEARCH BREADTH FIRST BY b, a SET o SELECT a FROM r ORDER BY o DESC",
            'WITH RECURSIVE r(a, b, "o") AS (SELECT 1, 2, CAST(0 AS BIGINT) AS "o" UNION ALL'
            ' SELECT q.b, q.a, (q."o" + 1) AS "o" FROM r AS q)'
            ' SELECT a FROM r ORDER BY o DESC, "b" DESC, "a" DESC',
        ),
    ],
)
def test_what_asks_postgresql(
    rewrite_: Callable[[Query, Facts], Query], before: str, after: str
) -> None:
    assert write(rewrite_(parse_deparsed(before), SomeFacts())) == after


@pytest.mark.parametrize(
    "text",
    [
        "SELECT id FROM t WHERE ((k, x) IN ( SELECT u.k, u.x FROM u)) AND (id > 1)",
        "SELECT id FROM t WHERE (x = ANY (ARRAY[1, 2])) AND (x <> ALL ('{3}'::integer[]))",
        "SELECT DISTINCT k, sum(x) OVER (PARTITION BY k) AS s FROM t ORDER BY k LIMIT 3",
        "WITH c AS (SELECT t.k FROM t) SELECT c.k FROM c UNION ALL SELECT 1 AS k",
        "SELECT k, count(*) AS n FROM t GROUP BY k HAVING (count(*) > 1)",
    ],
)
def test_a_query_that_needs_no_rewrite_stays(text: str) -> None:
    query = parse_deparsed(text)
    for one in REWRITES:
        assert one(query) == query


def test_the_query_given_is_not_changed() -> None:
    query = parse_deparsed(PAIRS[3].values[1])
    text = write(query)
    rewrite(query, NoFacts())
    assert write(query) == text


def test_new_names_are_not_in_the_query() -> None:
    text = "SELECT DISTINCT ON (k) k FROM (SELECT DISTINCT ON (t.k) t.k FROM t __pgs_p) __pgs_q"
    made = write(rewrite(parse_deparsed(text), NoFacts()))
    assert all(name in made for name in ("__pgs_p_1", "__pgs_p_2", "__pgs_q_1", "__pgs_q_2"))


@pytest.mark.parametrize(
    ("group", "count"),
    [
        ("k, g", 1),
        ("()", 1),
        ("ROLLUP(a, b, c)", 4),
        ("ROLLUP((a, b), c)", 3),
        ("CUBE(a, b, (c, d))", 8),
        ("k, ROLLUP(a), CUBE(b, c)", 8),
        ("GROUPING SETS ((a, b), (a), (), (), ROLLUP(c), CUBE(d, e))", 10),
        ("DISTINCT ROLLUP(a, b), ROLLUP(a)", 3),
    ],
)
def test_the_number_of_grouping_sets(group: str, count: int) -> None:
    clause = parse_deparsed(f"SELECT 1 FROM t GROUP BY {group}").args["group"]
    assert len(sets_of(clause)) == count


@pytest.mark.parametrize(
    ("group", "refused"),
    [
        ("CUBE(a, b, c, d, e, f)", False),
        ("CUBE(a, b, c, d, e, f), g", False),
        ("CUBE(a, b, c, d, e, f), ROLLUP(g)", True),
        ("DISTINCT CUBE(a, b, c, d, e, f), ROLLUP(a)", False),
        (f"CUBE({', '.join(f'c{i}' for i in range(40))})", True),
        (f"DISTINCT CUBE({', '.join(f'c{i}' for i in range(40))})", True),
    ],
)
def test_more_than_64_grouping_sets_are_refused(group: str, refused: bool) -> None:
    query = parse_deparsed(f"SELECT count(*) AS n FROM t GROUP BY {group}")
    assert too_many(query.args["group"]) == refused
    if not refused:
        refuse(query, "")
        grouping_sets(query)
        return
    with pytest.raises(UnsupportedConstruct) as by_text:
        refuse(query, "")
    with pytest.raises(UnsupportedConstruct) as by_rewrite:
        grouping_sets(query)
    assert str(by_text.value) == str(by_rewrite.value)
    assert by_text.value.construct in [refusal.construct for refusal in REFUSALS]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("SELECT k AS a, k AS b FROM t GROUP BY k, ROLLUP(k)", "GROUP BY twice"),
        ("SELECT GROUPING(f(k)) AS a FROM t GROUP BY ROLLUP(k, x)", "argument of GROUPING"),
    ],
)
def test_what_grouping_sets_cannot_tell_is_refused(query: str, words: str) -> None:
    with pytest.raises(UnsupportedConstruct, match=words):
        grouping_sets(parse_deparsed(query))


@pytest.mark.parametrize(
    ("query", "refused"),
    [
        ("SELECT id FROM t LIMIT 1", True),
        ("SELECT id FROM (SELECT id FROM t) s LIMIT 1", True),
        ("SELECT id FROM (SELECT * FROM t ORDER BY 1) s WHERE id > 1 LIMIT 1", False),
        ("SELECT * FROM (SELECT upper(g) FROM (SELECT * FROM t ORDER BY x) q) s LIMIT 1", False),
        ("SELECT DISTINCT g FROM (SELECT g FROM t ORDER BY x) s LIMIT 1", True),
        ("SELECT s.id FROM (SELECT id FROM t ORDER BY x) s JOIN u ON u.id = s.id LIMIT 1", True),
        ("SELECT e FROM unnest(ARRAY[2, 1]) e LIMIT 1", False),
        ("SELECT e FROM t, unnest(t.a) e LIMIT 1", True),
        ("SELECT id FROM (SELECT e AS id FROM t, unnest(t.a) e) s LIMIT 1", True),
        ("WITH s AS (SELECT id FROM t ORDER BY x) SELECT id FROM s LIMIT 1", False),
    ],
)
def test_limit_needs_an_order_of_all_rows(query: str, refused: bool) -> None:
    if not refused:
        refuse(parse(query), query)
        return
    with pytest.raises(UnsupportedConstruct, match="LIMIT without ORDER BY"):
        refuse(parse(query), query)
