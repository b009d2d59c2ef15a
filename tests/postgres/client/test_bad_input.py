"""Bad input: each kind has its own clear error, with its place, and leaves nothing behind."""

from __future__ import annotations

import pytest

from pgstream import errors

TABLES = """
CREATE TABLE t (id int PRIMARY KEY, g text, x numeric(10,2), j json, b boolean, d date);
CREATE TABLE u (id int, t_id int);
CREATE VIEW v AS SELECT id FROM t TABLESAMPLE BERNOULLI (10);
CREATE MATERIALIZED VIEW mv AS SELECT id FROM t;
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
    ("SELECT t.id, u.id AS u FROM t LEFT JOIN u ON EXISTS (SELECT 1 FROM t q WHERE q.id = u.id)",
     errors.UnsupportedConstruct, "in ON", "EXISTS"),
    ("SELECT unnest(ARRAY[1, 2]) AS u FROM t", errors.UnsupportedConstruct, "set-returning", None),
    ("SELECT j FROM t UNION SELECT j FROM t", errors.PgStreamError, "json", None),
    ("SELECT relname FROM pg_class", errors.UnsupportedConstruct, "system catalog", None),
    ("SELECT id FROM s", errors.CycleError, "public.s -> public.s", None),
]  # fmt: skip


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


def test_a_stable_function_warns(client):
    from pgstream import PgStreamWarning

    with pytest.warns(PgStreamWarning, match="STABLE"):
        client.create_stream_table("s", "SELECT id, now() AS at FROM t", initialize=False)
