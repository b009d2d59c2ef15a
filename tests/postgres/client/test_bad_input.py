"""Bad input: each kind has its own clear error, with its place, and leaves nothing behind."""

from __future__ import annotations

import pytest

from documents import REFERENCE, names, rows
from pgstream import PgStreamWarning, errors

TABLES = """
CREATE TABLE t (id int PRIMARY KEY, g text, x numeric(10,2), j json, b boolean, d date);
CREATE TABLE u (id int, t_id int);
CREATE VIEW v AS SELECT id FROM t TABLESAMPLE BERNOULLI (10);
CREATE MATERIALIZED VIEW mv AS SELECT id FROM t;
CREATE SEQUENCE seq;
CREATE FUNCTION wild(int) RETURNS int LANGUAGE sql VOLATILE AS 'SELECT $1';
CREATE FUNCTION reads(int) RETURNS bigint LANGUAGE sql STABLE AS 'SELECT count(*) FROM public.t';
CREATE FUNCTION hides(int, float8 DEFAULT random()) RETURNS float8
    LANGUAGE sql IMMUTABLE AS 'SELECT $2';
CREATE FUNCTION wildly(int, int) RETURNS bool LANGUAGE sql VOLATILE AS 'SELECT $1 < $2';
CREATE OPERATOR <~> (LEFTARG = int, RIGHTARG = int, FUNCTION = wildly);
CREATE VIEW unsteady AS SELECT id, timeofday() AS at FROM t;
CREATE AGGREGATE my_sum(int) (SFUNC = int4pl, STYPE = int, INITCOND = '0');
CREATE FUNCTION my_sum(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE FUNCTION adds(int, int) RETURNS int LANGUAGE sql VOLATILE AS 'SELECT $1 + $2';
CREATE AGGREGATE wild_sum(int) (SFUNC = adds, STYPE = int);
CREATE TEMPORARY TABLE temporary (id int);
CREATE TABLE internal (id int, __pgs_id int);
CREATE TABLE secured (id int);
ALTER TABLE secured ENABLE ROW LEVEL SECURITY;
CREATE FUNCTION pg_temp.fleeting(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1';
"""

# query, error, words in the message, word at whose place the error points (or None)
QUERIES = [
    ("", errors.EmptyQuery, "empty", None),
    ("  -- nothing\n ;", errors.EmptyQuery, "empty", None),
    ("SELECT 1 AS a; SELECT 2 AS b", errors.MultipleStatements, "2 statements", None),
    ("INSERT INTO t VALUES (1)", errors.NotASelect, "INSERT", None),
    ("DELETE FROM t RETURNING id", errors.NotASelect, "DELETE", None),
    ("CREATE TABLE made (a int)", errors.NotASelect, "CREATE", None),
    ("SELECT id FRM t WHERE", errors.SyntaxFault, "syntax error", None),
    ("SELECT id\nFROM nowhere", errors.UnknownName, "nowhere", "nowhere"),
    ("SELECT id,\n  nope FROM t", errors.UnknownName, "nope", "nope"),
    ("SELECT frobnicate(id) FROM t", errors.UnknownName, "frobnicate", "frobnicate"),
    ("SELECT id + g FROM t", errors.UnknownName, "operator", "+"),
    ("SELECT g FROM t GROUP BY id, x HAVING d", errors.TypeMismatch, "boolean", "d"),
    ("SELECT x FROM t GROUP BY g", errors.QueryError, "GROUP BY", "x"),
    ("SELECT id, id FROM t", errors.QueryError, "more than once", None),
    ("SELECT FROM t", errors.QueryError, "no columns", None),
    ("SELECT id AS __pgs_weight FROM t", errors.QueryError, "reserved", None),
    ("SELECT id FROM t LIMIT 5", errors.UnsupportedConstruct, "LIMIT", "LIMIT"),
    ("SELECT id FROM t OFFSET 5", errors.UnsupportedConstruct, "OFFSET", "OFFSET"),
    ("SELECT id FROM t TABLESAMPLE BERNOULLI(10)", errors.UnsupportedConstruct, "TABLESAMPLE",
     "TABLESAMPLE"),
    ("SELECT id FROM t\nFOR UPDATE", errors.UnsupportedConstruct, "FOR UPDATE", "FOR"),
    ("SELECT id, random() AS r FROM t", errors.VolatileFunction, "random", "random"),
    ("SELECT j FROM t GROUP BY j", errors.PgStreamError, "json", None),
    ("SELECT id FROM v", errors.UnsupportedConstruct, "its views: public.v", None),
    ("SELECT id FROM mv", errors.UnsupportedConstruct, "materialized view", None),
    ("SELECT id FROM t WHERE id IN (SELECT u.id FROM u LIMIT 3)", errors.UnsupportedConstruct,
     "LIMIT", "LIMIT"),
    ("SELECT g, count(*) FROM t GROUP BY CUBE (id, g, x, b, d, id + 1, x + 1)",
     errors.UnsupportedConstruct, "CUBE", "CUBE"),
    ("SELECT t.id, u.id AS u FROM t LEFT JOIN u ON upper(t.g || u.id) = 'A'",
     errors.UnsupportedExpression, "outer join", "upper"),
    ("SELECT t.id FROM t LEFT JOIN u ON EXISTS (SELECT 1 FROM t q WHERE q.id = u.id) JOIN t r"
     " USING (g)", errors.UnsupportedConstruct, "in ON", "EXISTS"),
    ("SELECT row_to_json(jsonb_each(to_jsonb(id))) AS u FROM t", errors.UnsupportedConstruct,
     "A row that a function", None),
    ("SELECT j FROM t UNION SELECT j FROM t", errors.PgStreamError, "json", None),
    ("SELECT relname FROM pg_class", errors.UnsupportedConstruct, "system catalog", None),
    ("SELECT id FROM s", errors.CycleError, "public.s -> public.s", None),
]  # fmt: skip


# What changes though no row does: query, the function that is named.
CHANGING = [
    ("SELECT id, random() AS v FROM t", "random"),
    ("SELECT id FROM t WHERE random() < 0.5", "random"),
    ("SELECT g, array_agg(id ORDER BY random()) AS v FROM t GROUP BY g", "random"),
    ("SELECT id, lag(clock_timestamp()) OVER (ORDER BY id) AS v FROM t", "clock_timestamp"),
    ("SELECT id, nextval('seq') AS v FROM t", "nextval"),
    ("SELECT id, gen_random_uuid() AS v FROM t", "gen_random_uuid"),
    ("SELECT id, txid_current() AS v FROM t", "txid_current"),
    ("SELECT id, pg_backend_pid() AS v FROM t", "pg_backend_pid"),
    ("SELECT id FROM t, currval('seq') AS c", "currval"),
    ("SELECT id, wild(id) AS v FROM t", "wild"),
    ("SELECT id, reads(id) AS v FROM t", "reads"),
    ("SELECT g, wild_sum(id) AS v FROM t GROUP BY g", "adds"),
    ("SELECT id, hides(id) AS v FROM t", "random"),
    ("SELECT id FROM t WHERE id <~> 3", "wildly"),
    ("SELECT id, at FROM unsteady", "timeofday"),
    ("SELECT id, now() AS v FROM t", "now"),
    ("SELECT id, statement_timestamp() AS v FROM t", "statement_timestamp"),
    ("SELECT id, age(d) AS v FROM t", "age"),
    ("SELECT id FROM t WHERE d > CURRENT_DATE - 7", "CURRENT_DATE"),
    ("SELECT id, CURRENT_TIME AS v FROM t", "CURRENT_TIME"),
    ("SELECT id, CURRENT_TIMESTAMP(0) AS v FROM t", "CURRENT_TIMESTAMP"),
    ("SELECT id, LOCALTIME AS v FROM t", "LOCALTIME"),
    ("SELECT id, LOCALTIMESTAMP AS v FROM t", "LOCALTIMESTAMP"),
    ("SELECT id, CURRENT_USER AS v FROM t", "CURRENT_USER"),
    ("SELECT id, CURRENT_ROLE AS v FROM t", "CURRENT_ROLE"),
    ("SELECT id, SESSION_USER AS v FROM t", "SESSION_USER"),
    ("SELECT id, CURRENT_CATALOG AS v FROM t", "CURRENT_CATALOG"),
    ("SELECT id, CURRENT_SCHEMA AS v FROM t", "CURRENT_SCHEMA"),
    ("SELECT id, current_setting('TimeZone') AS v FROM t", "current_setting"),
    ("SELECT id, version() AS v FROM t", "version"),
    ("SELECT id, pg_column_size(g) AS v FROM t", "pg_column_size"),
    ("SELECT id, to_tsvector(g) AS v FROM t", "to_tsvector"),
    ("SELECT id, has_table_privilege('t', 'SELECT') AS v FROM t", "has_table_privilege"),
]
# Sources and functions that no stream table can have: query, words in the message.
UNSUPPORTED = [
    ("SELECT id FROM temporary", "temporary table"),
    ("SELECT id, pg_temp.fleeting(id) AS v FROM t", "temporary function"),
    ("SELECT id FROM internal", "__pgs_"),
    ("SELECT id FROM secured", "row security"),
    ("SELECT pgs_name FROM pgstream.pgs_stream_tables", "belongs to pgstream"),
    ("SELECT table_name FROM information_schema.tables", "system catalog"),
    ("SELECT g, my_sum(id) AS v FROM t GROUP BY g", "name of the aggregate"),
]


@pytest.fixture
def client(database):
    from pgstream.client import PgStream

    with PgStream(database.dsn_as("pgs_test_owner")) as stream:
        stream.execute(TABLES)
        yield stream


def objects(client):
    return client.execute(
        "SELECT 'class', relname::text FROM pg_class UNION ALL"
        " SELECT 'function', proname::text FROM pg_proc UNION ALL"
        " SELECT 'trigger', tgname::text FROM pg_trigger UNION ALL"
        " SELECT 'catalog', pgs_name FROM pgstream.pgs_stream_tables ORDER BY 1, 2"
    )


def test_every_bad_query_has_its_own_error_and_leaves_nothing(client):
    before = objects(client)
    for query, kind, words, at in QUERIES:
        with pytest.raises(kind) as caught:
            client.create_stream_table("s", query)
        error = caught.value
        assert words.lower() in str(error).lower(), (query, str(error))
        assert "Traceback" not in str(error)
        if at is not None:
            assert error.line is not None, (query, str(error))
            line = query.splitlines()[error.line - 1]
            assert line[error.column - 1 :].lower().startswith(at.lower()), (query, str(error))
        assert objects(client) == before, query


def refusal(client, query, **options):
    with pytest.raises(errors.PgStreamError) as caught:
        client.create_stream_table("s", query, **options)
    return caught.value


def test_what_changes_by_itself_is_refused_at_creation(client):
    before = objects(client)
    for query, name in CHANGING:
        error = refusal(client, query)
        assert isinstance(error, errors.VolatileFunction), (query, str(error))
        assert f"the function {name}" in error.message, (query, str(error))
        assert error.hint
        assert (error.line is not None) == (name in query), query
        assert objects(client) == before, query


def test_what_changes_by_itself_makes_auto_full(client):
    for query, name in CHANGING[::5]:
        with pytest.warns(PgStreamWarning, match=f"{name}.* FULL mode"):
            client.create_stream_table("s", query, refresh_mode="AUTO", initialize=False)
        assert client.table("s").refresh_mode == "FULL", query
        client.drop_stream_table("s")


def test_it_is_not_made_differential_later(client):
    query = "SELECT id, now() AS at FROM t"
    client.create_stream_table("s", query, refresh_mode="FULL", initialize=False)
    with pytest.raises(errors.VolatileFunction, match="now"):
        client.alter_stream_table("s", refresh_mode="DIFFERENTIAL")
    assert client.table("s").refresh_mode == "FULL"


def test_unsupported_sources_and_functions_are_refused_at_creation(client):
    before = objects(client)
    for query, words in UNSUPPORTED:
        error = refusal(client, query)
        assert words in error.message, (query, str(error))
        assert error.hint
        assert objects(client) == before, query


def example(row):
    (text,) = names(row[-1])
    return text


@pytest.mark.parametrize(
    "row", rows(REFERENCE / "sql.md", "construct", "reason"), ids=lambda row: row[0]
)
def test_a_refused_construct_says_what_the_document_says(client, row):
    construct, reason, way_out, _ = row
    error = refusal(client, example(row), refresh_mode="FULL")
    assert (error.code, error.construct) == ("PGS-0207", construct)
    assert (error.detail, error.hint) == (reason, way_out)
    assert error.line is not None


def test_what_else_is_refused_says_what_the_document_says(client):
    before = objects(client)
    said = set()
    for row in rows(REFERENCE / "sql.md", "what", "code", "message"):
        _, code, words, way_out, _ = row
        error = refusal(client, example(row))
        assert (error.code, error.hint) == (code, way_out), (row, str(error))
        assert words in error.message, (row, str(error))
        assert objects(client) == before, row
        said.add(error.message)
    assert len(said) == len(rows(REFERENCE / "sql.md", "what", "code", "message"))


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ({"name": ""}, errors.BadName, ""),
        ({"name": "a.b.c"}, errors.BadName, ""),
        ({"name": "nowhere.s"}, errors.BadName, "nowhere"),
        ({"name": "t"}, errors.DuplicateName, "t"),
        ({"schedule": "soon"}, errors.BadSchedule, "soon"),
        ({"schedule": "0s"}, errors.BadSchedule, ""),
        ({"schedule": "5s"}, errors.BadSchedule, "60"),
        ({"refresh_mode": "SOMETIMES"}, errors.BadMode, "SOMETIMES"),
    ],
)
def test_bad_options_leave_nothing(client, arguments, kind, words):
    before = objects(client)
    options = {"name": "s", "query": "SELECT id FROM t", "schedule": "1m", **arguments}
    with pytest.raises(kind) as caught:
        client.create_stream_table(**options)
    assert words in str(caught.value)
    assert objects(client) == before


def test_a_function_that_follows_the_session_warns(client):
    query = "SELECT id, to_char(d, 'YYYY') AS y FROM t"
    with pytest.warns(PgStreamWarning, match="STABLE"):
        client.create_stream_table("s", query, initialize=False)
