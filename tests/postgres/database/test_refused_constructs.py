"""create_stream_table refuses in the caller's transaction what the stored tree shows, with the
words of Python's refusal, and nothing that Python accepts."""

from __future__ import annotations

import psycopg
import pytest

from pgstream.compile.passes import check_text
from pgstream.database.sqlstates import translate
from pgstream.errors import UnsupportedConstruct
from pgstream.sql.passes.refuse import REFUSALS

pytestmark = pytest.mark.postgres

REFUSED = (
    "SELECT id FROM t LIMIT 5",
    "SELECT id FROM t\nFETCH FIRST ROW ONLY",
    "SELECT id FROM t WHERE v = 'limit' -- LIMIT\n  /* limit */ LIMIT 5 OFFSET 2",
    "SELECT id AS \"limit\", E'\\'limit' AS e FROM t LIMIT 1",
    "SELECT id FROM t LIMIT (SELECT 3)",
    "SELECT count(*) AS n FROM t LIMIT 1",
    "SELECT DISTINCT a FROM (VALUES (1), (2)) v(a) LIMIT 1",
    "SELECT a FROM (SELECT id AS a FROM t UNION SELECT 1) q LIMIT 1",
    "SELECT id FROM t UNION ALL SELECT id FROM t LIMIT 1",
    "SELECT q.id FROM (SELECT id FROM t) q LIMIT 1",
    "SELECT q.id FROM (SELECT id FROM t ORDER BY v) q JOIN t USING (id) LIMIT 1",
    "SELECT id, (SELECT u.id FROM t u WHERE u.v = t.v LIMIT 1) AS m FROM t",
    "WITH c AS (SELECT id FROM t LIMIT 2) SELECT id FROM c ORDER BY id LIMIT 1",
    "SELECT id FROM (SELECT id FROM t LIMIT 3) q ORDER BY id LIMIT 1",
    "SELECT id FROM t WHERE EXISTS (SELECT FROM t u LIMIT 1)",
    "SELECT id FROM t ORDER BY id OFFSET 5",
    "SELECT id FROM t ORDER BY id LIMIT ALL OFFSET 5",
    "SELECT id FROM (SELECT id FROM t ORDER BY id OFFSET (SELECT 1)) q",
    "SELECT id FROM t TABLESAMPLE BERNOULLI (10)",
    "SELECT id FROM (SELECT id\n  FROM t TABLESAMPLE SYSTEM (10) REPEATABLE (1)) q",
    "SELECT id FROM t FOR UPDATE",
    "SELECT q.id FROM (SELECT id FROM t FOR SHARE) q",
    "SELECT id INTO other FROM t",
    "SELECT id FROM t WHERE id = $1",
    "SELECT id FROM ONLY t",
    "SELECT id FROM t WHERE id IN (SELECT id FROM ONLY (t))",
)
ACCEPTED = (
    "SELECT id FROM t ORDER BY v LIMIT 5 OFFSET 2",
    "SELECT id FROM t LIMIT ALL OFFSET 0",
    "SELECT id FROM t LIMIT NULL::int OFFSET NULL",
    "SELECT q.id FROM (SELECT id FROM t ORDER BY v) q LIMIT 1",
    "WITH c AS (SELECT id FROM t ORDER BY v) SELECT id FROM c LIMIT 1",
    "SELECT a FROM (VALUES (1), (2)) q(a) LIMIT 1",
    "SELECT a FROM generate_series(1, 9) a LIMIT 3",
    "SELECT t.id, f.x FROM t, LATERAL (SELECT t.id AS x ORDER BY 1 LIMIT 1) f",
    "SELECT id AS \":limitCount {QUERY\", ':inh false :rowMarks (' AS w FROM t",
    'SELECT "only".id FROM t AS "only"',
)


@pytest.fixture
def t(owner: psycopg.Connection) -> psycopg.Connection:
    owner.execute("CREATE TABLE t (id int, v text)")
    return owner


def create(conn: psycopg.Connection, query: str) -> None:
    conn.execute("SELECT pgstream.create_stream_table('s', %s)", (query,))


def in_sql(conn: psycopg.Connection, query: str) -> UnsupportedConstruct:
    with pytest.raises(psycopg.Error) as caught:
        create(conn, query)
    error = translate(caught.value)
    assert isinstance(error, UnsupportedConstruct), error
    return error


def words(error: UnsupportedConstruct) -> tuple[str | None, ...]:
    return error.code, error.construct, error.message, error.detail, error.hint


def left_behind(conn: psycopg.Connection) -> list[tuple]:
    return conn.execute(
        "SELECT relname::text FROM pg_class WHERE relname ~ '^(s|__pgs.*)$'"
        " UNION ALL SELECT pgs_name FROM pgstream.pgs_stream_tables"
        " UNION ALL SELECT tgname FROM pg_trigger WHERE tgname ~ 'pgs'"
    ).fetchall()


def test_words_are_those_of_python(owner: psycopg.Connection) -> None:
    python = {each.construct: (each.reason, each.way_out) for each in REFUSALS}
    for construct, reason, way_out in owner.execute(
        "SELECT construct, reason, way_out FROM pgstream._refusals()"
    ).fetchall():
        assert (reason, way_out) == python[construct]


def test_refused_as_in_python(t: psycopg.Connection) -> None:
    for query in REFUSED:
        with pytest.raises(UnsupportedConstruct) as python:
            check_text(query)
        sql = in_sql(t, query)
        assert words(sql) == words(python.value), query
        if sql.line is not None:  # not where the keyword is in the text more than once
            assert (sql.line, sql.column) == (python.value.line, python.value.column), query
    assert left_behind(t) == []


def test_what_python_accepts_is_not_refused(t: psycopg.Connection) -> None:
    for query in ACCEPTED:
        check_text(query)
        create(t, query)
        t.execute("SELECT pgstream.drop_stream_table('s')")


def test_position_where_strings_and_comments_have_the_keyword(t: psycopg.Connection) -> None:
    error = in_sql(t, "SELECT id, 'limit' AS v -- limit\nFROM t /* LIMIT\n */ LIMIT 5")
    assert (error.line, error.column) == (3, 5)
    assert str(error).startswith("LIMIT without ORDER BY is not supported in a stream table's query"
                                 " (line 3, column 5).")  # fmt: skip


def test_no_position_is_better_than_a_wrong_one(t: psycopg.Connection) -> None:
    for query in (
        "SELECT id FROM (SELECT id FROM t LIMIT 3) q ORDER BY id LIMIT 1",
        "SELECT id, $q$ it's $q$ AS v FROM t LIMIT 5",
    ):
        error = in_sql(t, query)
        assert (error.line, error.column) == (None, None)


def test_refused_in_a_view(t: psycopg.Connection) -> None:
    t.execute("CREATE VIEW few AS SELECT id FROM t LIMIT 3")
    t.execute("CREATE VIEW above AS SELECT id FROM few")
    error = in_sql(t, "SELECT id FROM above")
    assert error.construct == "LIMIT without ORDER BY"
    assert error.line is None
    assert error.detail is not None
    assert error.detail.endswith("The query includes those of its views: public.few, public.above.")


def test_a_view_may_read_a_sorted_view(t: psycopg.Connection) -> None:
    t.execute("CREATE VIEW sorted AS SELECT id FROM t ORDER BY v")
    t.execute("CREATE VIEW first_of_them AS SELECT id FROM sorted LIMIT 3")
    create(t, "SELECT id FROM first_of_them")
    t.execute("SELECT pgstream.drop_stream_table('s')")
    assert in_sql(t, "SELECT id FROM sorted LIMIT 3").construct == "LIMIT without ORDER BY"
