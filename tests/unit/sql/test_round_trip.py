"""The law of the parser: what is written of a query is what was read of it.

The corpus: the book's queries, TPC-H, every expression that is compared with PostgreSQL, the
cases of the rewrites, and the queries of docs/reference/sql.md.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from expressions import ANYWHERE, ON_SPARK, lines
from pgstream.bench.tpch import sections
from pgstream.errors import UnsupportedConstruct
from pgstream.sql.deparsed import REFUSED, parse_deparsed
from pgstream.sql.grammar import NODE_TYPES, statements
from pgstream.sql.parse import parse
from pgstream.sql.read.expressions import EXPRESSIONS
from pgstream.sql.read.relations import RELATIONS
from pgstream.sql.round_trip import require_round_trip

TESTS = Path(__file__).parents[2]
REWRITES = TESTS / "postgres" / "sql" / "rewrites"


def expressions() -> Iterator[str]:
    printed = (TESTS / "postgres" / "sql" / "expressions.txt").read_text().splitlines()
    failing = [*lines("fails_in_postgres"), *lines("fails_on_spark")]
    for text in [*printed, *ON_SPARK, *(text for some in ANYWHERE.values() for text in some)]:
        yield f"SELECT {text} AS v FROM t, u"
    for line in failing:
        yield f"SELECT {line.partition(' | ')[0]} AS v FROM t, u"


def queries() -> Iterator[str]:
    book = importlib.import_module("e2e.book.queries")
    yield from (query.sql for query in book.QUERIES)
    yield from sections.queries().values()
    for file in sorted(REWRITES.glob("*.sql")):
        if file.stem != "tables":
            yield from file.read_text().strip().removesuffix(";").split(";\n")
    document = (TESTS.parent / "docs" / "reference" / "sql.md").read_text(encoding="utf-8")
    for text in re.findall(r"`((?:SELECT|WITH) [^`]+ [^`]+)`", document):
        yield text.replace("\\|", "|")


def holds(text: str) -> bool:
    """Whether the text is one query, and the law holds for it."""
    found = statements(text)
    if [statement.kind for statement in found] != ["select_stmt"]:
        return False
    try:
        query = parse(text)
    except UnsupportedConstruct:
        return False
    if query.find(*REFUSED):
        return False
    parse_deparsed(text)
    return True


def test_expressions_are_written_as_they_are_read() -> None:
    every = list(expressions())
    assert len(every) > 1000
    assert [text for text in every if not holds(text)] == []


def test_queries_are_written_as_they_are_read() -> None:
    every = list(queries())
    refused = [text for text in every if not holds(text)]
    assert len(every) > 250
    assert len(refused) < 15  # those that the document shows as refused


OTHERS = (
    "SELECT a OPERATOR(s.@@@) b, OPERATOR(s.-) b, !! c, a *= b, ROW(a, b) *<> ROW(b, a) FROM t",
    'SELECT a::bit varying(3), a::"bit", a::bit(4), a::"char", a::numeric(5, -2)[] FROM t',
    'SELECT a::interval day to second(3), a::timestamp(2) with time zone, a::s."Typ"[] FROM t',
    "SELECT x.i FROM t JOIN u USING (i) AS x",
    "SELECT q.a FROM (t JOIN u USING (i)) AS q(a, b), (v CROSS JOIN (w NATURAL FULL JOIN z)) FROM1",
    "SELECT 1 FROM t, ((VALUES (1)) v(a) JOIN u ON v.a = u.a), (LATERAL (SELECT t.a) l JOIN f(1) ON"
    " true), (g(2) WITH ORDINALITY q LEFT JOIN (SELECT 2) z ON true) y",
    "VALUES (1, 'a'), (2, 'b') ORDER BY 1 DESC LIMIT 1 OFFSET 1",
    "SELECT a IN (VALUES (1), (2)), b = ALL (VALUES (a) ORDER BY 1 LIMIT 2) FROM t",
    "(VALUES (1) UNION ALL SELECT 2) INTERSECT (SELECT 3 EXCEPT SELECT 4 ORDER BY 1)",
    "SELECT substring(a SIMILAR b ESCAPE '#'), substring(a FROM 2 FOR b), trim(LEADING a FROM b),"
    " overlay(a PLACING b FROM 1 FOR 2), position(a IN b), extract(year FROM a) FROM t",
    "SELECT a AT LOCAL, a AT TIME ZONE b, (a, b) OVERLAPS (c, d), a IS NOT NFC NORMALIZED,"
    ' normalize(a, NFD), collation for (a), a COLLATE "C" < b FROM t',
    "SELECT * FROM t, XMLTABLE(XMLNAMESPACES('h' AS n), '/r' PASSING t.x COLUMNS a integer PATH"
    " '@a' DEFAULT t.b NOT NULL, n FOR ORDINALITY) AS x",
    "SELECT * FROM t, JSON_TABLE(t.doc, '$[*]' AS p PASSING t.a AS k COLUMNS (v integer PATH '$'"
    " DEFAULT 0 ON EMPTY, NESTED PATH '$.x' COLUMNS (n FOR ORDINALITY))) AS j",
    "SELECT JSON_ARRAYAGG(a ORDER BY b DESC ABSENT ON NULL RETURNING jsonb) FILTER (WHERE c),"
    " JSON_OBJECTAGG(a : b WITH UNIQUE KEYS), JSON_OBJECT('k' : a NULL ON NULL), JSON_ARRAY(a, b),"
    " JSON_VALUE(a, '$.x' PASSING b AS y RETURNING integer DEFAULT 1 ON EMPTY ERROR ON ERROR),"
    " JSON_QUERY(a, '$' WITH WRAPPER), JSON_EXISTS(a, b), a IS NOT JSON ARRAY FROM t",
    'SELECT xmlelement(NAME "A b", xmlattributes(a AS x), b), xmlforest(a, b AS c),'
    " xmlpi(NAME p, a), xmlparse(DOCUMENT a), xmlserialize(CONTENT a AS text), a IS DOCUMENT,"
    " xmlconcat(a, b) FROM t",
    "SELECT (a).b, ((a).b).c, a[1], a[1:b], (f(a))[2], (f(a)).*, (ARRAY[a, b])[1],"
    ' f(a => b, c => d), g(VARIADIC a), "left"(a, 1), s."My f"(a), ROW(a), (a, b), ARRAY[[a], [b]],'
    " ARRAY[]::int[] FROM t",
    "SELECT sum(a) OVER (w ROWS BETWEEN b PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE GROUP),"
    " lag(a) OVER w, rank() OVER (ORDER BY a NULLS FIRST GROUPS CURRENT ROW),"
    " percentile_disc(0.5) WITHIN GROUP (ORDER BY a) FILTER (WHERE b), count(DISTINCT a),"
    " string_agg(DISTINCT a, ',' ORDER BY a) FROM t WINDOW w AS (PARTITION BY c)",
    "WITH RECURSIVE q(a) AS MATERIALIZED (SELECT 1 UNION SELECT a FROM q), r AS NOT MATERIALIZED"
    " (TABLE q) SELECT DISTINCT ON (a, b) a FROM q, r GROUP BY DISTINCT a, ROLLUP (a, (b, c)), (),"
    " CUBE (a), GROUPING SETS ((a), (), (a, b)) HAVING GROUPING(a, b) > 0",
    'SELECT a FROM ROWS FROM (f(1) AS (x integer, "Y" text[]), g(2)) WITH ORDINALITY AS z(p, q),'
    " json_to_record(b) AS k(a integer, b numeric(3, -1)), LATERAL s.h(z.p), ONLY c",
    "SELECT a BETWEEN SYMMETRIC b AND c, a NOT LIKE b ESCAPE '!', a ILIKE ANY (ARRAY[b]),"
    " a SIMILAR TO b, a IN (1, b), a NOT IN (SELECT c), a IS NOT UNKNOWN, a IS DISTINCT FROM b,"
    " NOT a AND (b OR c) AND d, a ISNULL, - (-1), -a, a - -1, 2 ^ -3, a / b % c FROM t",
    "SELECT CASE a WHEN 1 THEN b ELSE c END, CASE WHEN a THEN b END, COALESCE(a, b), NULLIF(a, b),"
    " GREATEST(a, b), LEAST(a), E'a\\\\b\\'', U&'\\0041', b'101', x'1F', 1e10, .5, 12345678901,"
    " true, NULL, CURRENT_DATE, LOCALTIME(3), CURRENT_ROLE, 'it''s', '\\' FROM t",
)


@pytest.mark.parametrize("text", OTHERS)
def test_a_construct_is_written_as_it_is_read(text: str) -> None:
    parse_deparsed(text)


def test_a_difference_is_refused() -> None:
    (statement,) = statements("SELECT a - (b - c) AS v FROM t")
    other = parse("SELECT a - b - c AS v FROM t")
    with pytest.raises(UnsupportedConstruct, match="does not write as it reads"):
        require_round_trip(statement.tree, other)


def test_each_reader_is_of_a_type_of_postgresql() -> None:
    assert {*EXPRESSIONS, *RELATIONS} <= NODE_TYPES
