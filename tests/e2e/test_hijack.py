"""Nobody who may create in a schema of the search path runs code with the rights of pgstream.

The role that installed pgstream here is a superuser, `public` is open to mallory, and the schema
that `"$user"` is to the installing role is made by mallory.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pgstream import errors
from pgstream.client import PgStream
from pgstream.schedule.worker import Worker

HOSTILE = (Path(__file__).parents[1] / "hostile.sql").read_text()
TABLES = """
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TABLE p (id int PRIMARY KEY, v varchar(20), w varchar, c char(4), n numeric, m mood,
                a varchar[], b text[], parent int);
CREATE TABLE q (v varchar, w text, x bigint, a varchar[]);
INSERT INTO p SELECT i, 'v' || i % 5, 'w' || i % 3, 'c' || i % 4, i / 4.0,
                     (enum_range(NULL::mood))[1 + i % 3], ARRAY['a' || i % 2, 'b'], '{x}', i / 2
    FROM generate_series(1, 40) i;
INSERT INTO q SELECT 'v' || i % 7, 'w' || i % 4, i, ARRAY['a' || i % 3, 'b']
    FROM generate_series(1, 30) i;
ANALYZE p; ANALYZE q
"""
QUERIES = {
    "joined": "SELECT p.id, q.x FROM p JOIN q ON p.v = q.v AND p.w = q.w",
    "arrays": "SELECT p.id, q.x FROM p JOIN q ON p.a = q.a WHERE p.b = ARRAY['x']",
    "grouped": "SELECT v, c, sum(n) AS s, avg(n) AS a, max(w) AS m, count(*) AS n FROM p"
    " GROUP BY v, c HAVING count(w) > 0",
    "handed": "SELECT v, string_agg(w, ',' ORDER BY id) AS a, count(DISTINCT n) AS d FROM p"
    " GROUP BY v",
    "scanned": "SELECT id, to_char(id, '000') || upper(w) AS s, n + 1 AS n FROM p"
    " WHERE v LIKE 'v%'",
    "top": "SELECT v, n, id FROM p ORDER BY v, n DESC LIMIT 7",
    "recursion": "WITH RECURSIVE r AS (SELECT id, v FROM p WHERE parent = 0 UNION ALL"
    " SELECT p.id, p.v FROM p JOIN r ON p.parent = r.id) SELECT id, v FROM r",
    "windows": "SELECT id, rank() OVER (PARTITION BY v ORDER BY n) AS r, m FROM p",
    "not in": "SELECT id, m FROM p WHERE NOT EXISTS (SELECT FROM q WHERE q.v = p.v AND q.x > p.id)",
    "layered": "SELECT m.v, m.n FROM grouped m WHERE m.v <> 'v1'",
}  # fmt: skip
CHANGES = (
    "UPDATE p SET v = 'v3', n = n + 1, m = 'ok' WHERE id % 7 = 1; DELETE FROM q WHERE x < 5;"
    " INSERT INTO p VALUES (99, 'v1', 'w1', 'c1', 3.50, 'sad', '{a1,b}', '{x}', 5)",
    "DELETE FROM p WHERE id IN (1, 40); UPDATE q SET v = 'v2', a = '{a0,b}' WHERE x > 20",
)  # written by somebody whose search path is safe


@pytest.fixture
def mallory(ps: PgStream, database: str) -> Iterator[psycopg.Connection]:
    ps.execute(
        "CREATE ROLE mallory LOGIN; GRANT CREATE ON SCHEMA public TO mallory;"
        f"GRANT CREATE ON DATABASE {ps.connection.info.dbname} TO mallory"
    )
    try:
        with psycopg.connect(make_conninfo(database, user="mallory"), autocommit=True) as mallory:
            yield mallory
    finally:
        ps.execute("DROP OWNED BY mallory CASCADE; DROP ROLE mallory")


@pytest.fixture
def somebody(database: str) -> Iterator[psycopg.Connection]:
    """Who writes, and looks at what happened; as the role that installed pgstream."""
    safe = make_conninfo(database, options="-c search_path=pg_catalog")
    with psycopg.connect(safe, autocommit=True) as connection:
        yield connection


def lay_traps(mallory: psycopg.Connection, *schemas: str) -> list[str]:
    mallory.execute("SET search_path = pg_catalog")
    text = HOSTILE.replace("their_maker", "mallory")
    for schema in schemas:
        if schema != "public":
            mallory.execute(f"CREATE SCHEMA {schema}")
        mallory.execute(text.replace("here.", f"{schema}.").encode())
    return [f"{schema}.calls" for schema in schemas]


def calls(somebody: psycopg.Connection, sequences: list[str]) -> list[tuple[str, int]]:
    found = [
        (name, row[0])
        for name in sequences
        if (row := somebody.execute(f"SELECT last_value FROM {name} WHERE is_called").fetchone())
    ]
    return found


def write(somebody: psycopg.Connection, change: str) -> None:
    with somebody.transaction():
        for statement in change.split(";"):
            text = statement.replace(" p SET", " public.p SET").replace(" q SET", " public.q SET")
            text = text.replace("INTO p ", "INTO public.p ").replace("FROM p ", "FROM public.p ")
            text = text.replace("FROM q ", "FROM public.q ")
            somebody.execute(text.encode())


def test_traps_are_never_called(ps, mallory, somebody, database, spark, settings):
    """By refreshes of every kind and way, verify, explain, alter, the worker and drop."""
    ps.execute(TABLES)
    for name, query in QUERIES.items():
        ps.create_stream_table(f'"{name}"', query)
    traps = lay_traps(mallory, somebody.info.user, "public")
    with ExitStack() as opened:
        large = opened.enter_context(
            PgStream(database, spark, settings=replace(settings, small_path_rows=1))
        )
        for change, stream in zip(CHANGES, (ps, large), strict=True):
            write(somebody, change)
            for name in QUERIES:
                chosen = ps if name == "not in" else stream  # all its keys by executors: too much
                chosen.refresh_stream_table(f'"{name}"')
                assert chosen.verify(f'"{name}"').exact, name
        write(somebody, "UPDATE p SET n = n + 2 WHERE id = 7")
        for name in QUERIES:
            (large if name in ("joined", "handed") else ps).refresh_stream_table(
                f'"{name}"', full=True
            )
            assert ps.explain(f'"{name}"')
            assert ps.history(f'"{name}"')
        ps.alter_stream_table("joined", refresh_mode="FULL")
        ps.alter_stream_table("joined", refresh_mode="DIFFERENTIAL", schedule="1h")
        write(somebody, "UPDATE p SET n = n + 1 WHERE id = 8")
        worker = Worker(database, ps.sessions, lambda event: None, settings=settings)
        worker.open()
        worker.tick()
        worker.close()
        assert worker.failures == 0
        assert ps.verify("joined").exact
        assert ps.status()
        for name in reversed(QUERIES):
            ps.drop_stream_table(f'"{name}"')
    assert calls(somebody, traps) == []


def test_a_query_that_means_a_trap_is_refused(ps, mallory, somebody):
    """To its creator, whose search path has the trap, the query means it; it must not run."""
    ps.execute(TABLES)
    traps = lay_traps(mallory, somebody.info.user, "public")
    for query in (
        "SELECT p.id FROM p JOIN q ON p.v = q.v",
        "SELECT id FROM p WHERE v = w",
        "SELECT id FROM p WHERE 'a'::pg_catalog.varchar = 'b'::pg_catalog.varchar;  -- planned",
        "SELECT id, upper(w) AS u FROM p",
        "SELECT id, nullif(v, w) AS u FROM p",
        "SELECT id, n::public.numeric AS u FROM p",
    ):
        with pytest.raises(errors.PermissionDenied, match="which runs pgstream"):
            ps.create_stream_table("st", query)
    own = "SELECT p.id, q.x FROM p JOIN q ON p.v OPERATOR(pg_catalog.=) q.v"
    ps.create_stream_table("st", own)
    assert ps.verify("st").exact
    assert calls(somebody, traps) == []


def test_what_the_creator_trusts_is_used(ps, mallory, somebody):
    """Functions, operators and types of the installing role's own, also after somebody made one
    of the same name that fits better: that is refused, not called."""
    ps.execute(
        TABLES + "; CREATE FUNCTION shout(t text) RETURNS text LANGUAGE sql IMMUTABLE"
        " AS $$ SELECT upper(t) || '!' $$;"
        "CREATE FUNCTION like_it(a text, b text) RETURNS bool LANGUAGE sql IMMUTABLE"
        " AS $$ SELECT lower(a) = lower(b) $$;"
        "CREATE FUNCTION same(a varchar, b varchar) RETURNS bool LANGUAGE sql IMMUTABLE"
        " AS $$ SELECT lower(a) = lower(b) $$;"
        "CREATE FUNCTION stddev(n int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT -n';"
        "CREATE OPERATOR === (FUNCTION = like_it, LEFTARG = text, RIGHTARG = text);"
        "CREATE OPERATOR = (FUNCTION = same, LEFTARG = varchar, RIGHTARG = varchar);"
        "CREATE DOMAIN short AS text CHECK (length(VALUE) < 9)"
    )
    queries = {
        "named": "SELECT id, shout(v) AS s, w::short AS w, m FROM p WHERE m > 'sad'",
        "operator": "SELECT p.id, q.x FROM p JOIN q ON p.v === q.v WHERE p.w = q.w::varchar",
        "like_aggregates": "SELECT v, public.stddev(max(id)) AS d FROM p WHERE"
        " public.stddev(id) < -3 GROUP BY v",
        "in_list": "SELECT id FROM p WHERE v IN (SELECT v FROM q) AND v <> ALL (ARRAY['v9'])",
        "not_in": "SELECT id FROM p WHERE v NOT IN (SELECT v FROM q WHERE x > 26)",
        "related": "SELECT id, (SELECT max(x) FROM q WHERE q.v = p.v) AS m FROM p",
    }
    for name, query in queries.items():
        ps.create_stream_table(name, query)
    with pytest.raises(errors.UnsupportedConstruct, match="schema cannot be named"):
        ps.create_stream_table("st", "SELECT id, nullif(v, w) AS n FROM p")
    write(somebody, CHANGES[0])
    somebody.execute("UPDATE public.p SET v = 'V4' WHERE id < 9")
    for name in queries:
        assert ps.verify(name).exact
        to_the_user, stored = f"({queries[name]})", f"({shown(ps, name)})"
        assert ps.execute(f"{to_the_user} EXCEPT ALL {stored}") == [], name
        assert ps.execute(f"{stored} EXCEPT ALL {to_the_user}") == [], name
    caught = f"{somebody.info.user}.caught()"
    traps = lay_traps(mallory, somebody.info.user)
    mallory.execute(
        "CREATE FUNCTION public.shout(varchar) RETURNS text LANGUAGE sql IMMUTABLE"
        f" AS 'SELECT {caught}::text';"
        "CREATE FUNCTION public.better(varchar, varchar) RETURNS bool LANGUAGE sql IMMUTABLE"
        f" AS 'SELECT {caught}';"
        "CREATE OPERATOR public.=== (FUNCTION = public.better, LEFTARG = varchar,"
        " RIGHTARG = varchar)"
    )
    write(somebody, CHANGES[1])
    for name, culprit in (("named", "public.shout"), ("operator", "public.better")):
        with pytest.raises(errors.PermissionDenied, match=culprit):
            ps.refresh_stream_table(name)
    assert calls(somebody, traps) == []


def shown(ps: PgStream, name: str) -> str:
    return f"SELECT {', '.join(ps.table(name).columns)} FROM {name}"


def test_a_source_that_its_owner_changes_runs_nothing(ps, mallory, somebody):
    """The owner of a source gives it a type with a cast, row security, or a view's place."""
    mallory.execute(
        "CREATE TYPE public.color AS ENUM ('red', 'blue');"
        "CREATE TABLE public.typed (k int, c text); INSERT INTO public.typed VALUES (1, 'red');"
        "CREATE TABLE public.moved (k int, c text); INSERT INTO public.moved VALUES (1, 'red')"
    )
    for name in ("typed", "moved"):
        ps.create_stream_table(f"of_{name}", f"SELECT k, c FROM {name}")
    traps = lay_traps(mallory, somebody.info.user, "public")
    mallory.execute(
        "CREATE FUNCTION public.told(public.color) RETURNS pg_catalog.text LANGUAGE sql IMMUTABLE"
        " AS 'SELECT public.caught()::pg_catalog.text';"
        "CREATE CAST (public.color AS pg_catalog.text) WITH FUNCTION public.told(public.color)"
        " AS IMPLICIT;"
        "INSERT INTO public.typed VALUES (2, 'blue'); INSERT INTO public.moved VALUES (2, 'blue');"
        "ALTER TABLE public.typed ALTER c TYPE public.color USING 'red';"
        "ALTER TABLE public.moved RENAME TO gone;"
        "CREATE VIEW public.moved AS SELECT 1 AS k, public.caught()::pg_catalog.text AS c"
    )
    for full in (False, True):
        with pytest.raises(errors.PgStreamError) as raised:
            ps.refresh_stream_table("of_typed", full=full)
        assert "hijacked" not in str(raised.value)
        ps.refresh_stream_table("of_moved", full=full)  # the table is read, not the view
        assert ps.execute("SELECT k, c FROM of_moved ORDER BY k") == [(1, "red"), (2, "blue")]
    with pytest.raises(errors.PermissionDenied, match=r"public\.color does not belong to role"):
        ps.create_stream_table("st", "SELECT k, c FROM typed")
    assert calls(somebody, traps) == []


@pytest.mark.parametrize("rows", [3, 300])
def test_a_function_must_find_its_helpers_itself(ps, database, spark, settings, rows):
    """As in a materialized view of PostgreSQL 17: it fails at creation, and the hint helps."""
    ps.execute(
        "CREATE TABLE helper (k int, v text); INSERT INTO helper VALUES (1, 'one');"
        f"CREATE TABLE t (k int); INSERT INTO t SELECT generate_series(1, {rows}); ANALYZE t;"
        "CREATE FUNCTION by_plpgsql(n int) RETURNS text LANGUAGE plpgsql IMMUTABLE"
        " AS $$ BEGIN RETURN (SELECT v FROM helper WHERE k = n); END $$;"
        "CREATE FUNCTION inner_sql(n int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT n + 1';"
        "CREATE FUNCTION by_sql(n int) RETURNS int LANGUAGE sql IMMUTABLE"
        " AS 'SELECT inner_sql(n)'"
    )
    with PgStream(database, spark, settings=replace(settings, small_path_rows=100)) as stream:
        for name in ("by_plpgsql", "by_sql"):
            with pytest.raises(errors.UnknownName, match="does not exist") as raised:
                stream.create_stream_table("st", f"SELECT k, {name}(k) AS v FROM t")
            assert name in (raised.value.detail or "")
            assert f"{name}" in (raised.value.hint or "")
            assert "SET search_path = public" in (raised.value.hint or "")
            assert stream.execute("SELECT to_regclass('st')") == [(None,)]
            stream.execute(f"ALTER FUNCTION {name} SET search_path = public")
            stream.create_stream_table("st", f"SELECT k, {name}(k) AS v FROM t")
            assert stream.verify("st").exact
            stream.drop_stream_table("st")
