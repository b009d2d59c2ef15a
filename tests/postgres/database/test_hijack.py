"""The SQL face and the capture triggers call nothing that another role has made."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from pgstream.database.connection import connect, own_address, server_settings

OWNER, ALICE = "pgs_test_owner", "pgs_test_alice"
HOSTILE = (Path(__file__).parents[2] / "hostile.sql").read_text()
SOURCE = """
CREATE TABLE {t} (id int PRIMARY KEY, v varchar, w varchar(9), n numeric, a varchar[], j jsonb);
INSERT INTO {t} VALUES (1, 'a', 'b', 1.50, '{{x,y}}', '{{}}'), (2, 'b', 'b', 2, '{{x}}', '[1]')
"""
WRITES = (
    "INSERT INTO {t} VALUES (3, 'c', 'c', 3.25, '{{y}}', '1')",
    "UPDATE {t} SET v = 'd', a = '{{z}}', n = 9",
    "DELETE FROM {t}",
    "TRUNCATE {t}",
)


@pytest.fixture
def traps(database, alice):
    """Alice's, in `public` and in the schema that `"$user"` is to the owner of pgstream."""
    admin = database.connect()
    admin.execute(f"CREATE SCHEMA {OWNER} AUTHORIZATION {ALICE}; GRANT USAGE ON SCHEMA {OWNER}"
                  " TO PUBLIC")  # fmt: skip
    return lambda *schemas: lay(alice, *schemas)


def lay(conn, *schemas):
    conn.execute("SET search_path = pg_catalog")
    text = HOSTILE.replace("their_maker", ALICE)
    for schema in schemas:
        conn.execute(text.replace("here.", f"{schema}.").encode())
        conn.execute(f"GRANT ALL ON SEQUENCE {schema}.calls TO PUBLIC")


def calls(database, *schemas):
    conn = connect(database.dsn)
    with conn:
        return [
            schema
            for schema in schemas
            if conn.execute(f"SELECT FROM {schema}.calls WHERE is_called").fetchall()
        ]


def test_no_trap_is_called_for_the_owner(database, owner, traps):
    owner.execute(SOURCE.format(t="public.t"))
    query = "SELECT v, count(*) AS n, max(w) AS m FROM public.t WHERE a <> '{}' GROUP BY v"
    owner.execute("SELECT pgstream.create_stream_table('old', %s, '1h')", (query,))
    traps(OWNER, "public")
    owner.execute("SELECT pgstream.create_stream_table('new', 'SELECT id, j FROM public.t; -- x')")
    for statement in WRITES:
        owner.execute(statement.format(t="public.t"))
    for name in ("old", "new"):
        owner.execute("SELECT pgstream.alter_stream_table(%s, '2h', 'FULL')", (name,))
        owner.execute("SELECT pgstream.alter_stream_table(%s, '2h', 'AUTO', 'SUSPENDED')", (name,))
        owner.execute("SELECT * FROM pgstream.explain_st(%s)", (name,))
        owner.execute("SELECT * FROM pgstream.get_refresh_history(%s)", (name,))
        with pytest.raises(psycopg.Error, match="suspended"):
            owner.execute("SELECT pgstream.refresh_stream_table(%s)", (name,))
        owner.execute("SELECT pgstream.drop_stream_table(%s)", (name,))
    owner.execute("SELECT * FROM pgstream.pgs_status()")
    owner.execute("SELECT * FROM pgstream.pg_stat_stream_tables")
    assert calls(database, OWNER, "public") == []


def test_a_caller_brings_no_code_along(database, alice, owner, traps):
    """The caller's own path, temporary schema and session have the traps."""
    traps("public")
    owner.execute("CREATE SCHEMA theirs; GRANT ALL ON SCHEMA theirs TO " + ALICE)
    alice.execute("SET search_path = public, pg_catalog")
    alice.execute(SOURCE.format(t="theirs.s").replace("varchar", "pg_catalog.varchar")
                  .replace("numeric", "pg_catalog.numeric"))  # fmt: skip
    alice.execute(f"GRANT ALL ON theirs.s TO {OWNER}")
    for name in ("text", "oid", "name", "int8", "record", "refcursor", "regclass"):
        alice.execute(f'CREATE DOMAIN pg_temp."{name}" AS pg_catalog.text CHECK (public.caught())')
    for name in ("pg_class", "pg_roles", "pg_proc", "pg_namespace", "pgs_stream_tables"):
        alice.execute(f"CREATE TEMPORARY TABLE {name} (oid int4)")
    alice.execute("SELECT pgstream.create_stream_table('theirs.st', 'SELECT id, j FROM theirs.s')")
    for statement in WRITES:
        alice.execute(statement.format(t="theirs.s"))
    alice.execute("SELECT pgstream.alter_stream_table('theirs.st', '3h', 'FULL')")
    alice.execute("SELECT pgstream.alter_stream_table('theirs.st', '3h', 'DIFFERENTIAL')")
    alice.execute("SELECT pgstream.drop_stream_table('theirs.st')")
    assert calls(database, "public") == []


def test_code_of_another_role_is_refused(alice, owner):
    alice.execute(
        "CREATE TYPE color AS ENUM ('red'); CREATE DOMAIN short AS text CHECK (length(VALUE) < 9);"
        "CREATE TYPE pair AS (a int, c color[]);"
        "CREATE FUNCTION f(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1';"
        "CREATE OPERATOR ## (FUNCTION = f, RIGHTARG = int);"
        "CREATE TABLE t (id int, c color, p pair, s short);"
        f"GRANT ALL ON t TO {OWNER}"
    )
    owner.execute(
        f"CREATE DOMAIN checked AS int CHECK (f(VALUE) > 0); GRANT USAGE ON TYPE checked TO {ALICE}"
    )
    for query, what in {
        "SELECT id, c FROM t": "type public.color",
        "SELECT id FROM t WHERE c = 'red'": "type public.color",
        "SELECT id, p FROM t": "type public.pair",
        "SELECT id, s FROM t": "type public.short",
        "SELECT id, id::text::short AS s FROM t": "type public.short",
        "SELECT id, array_agg(c) AS a FROM t GROUP BY id": "type public.color",
        "SELECT t FROM t": "type public.",
        "SELECT f(id) AS x FROM t": "function public.f(integer)",
        "SELECT ## id AS x FROM t": "function public.f(integer)",
        "SELECT id::checked AS x FROM t": "function public.f(integer)",
    }.items():
        with pytest.raises(psycopg.Error) as raised:
            alice.execute("SELECT pgstream.create_stream_table('st', %s)", (query,))
        assert (raised.value.sqlstate, what in str(raised.value)) == ("PS009", True), query
    alice.execute("SELECT pgstream.create_stream_table('st', 'SELECT id FROM t')")


def test_a_column_that_gets_another_type_runs_no_cast(database, alice):
    """Capture would convert it to the type that the buffer has."""
    alice.execute(f"CREATE TABLE t (id int, c text, d text); GRANT ALL ON t TO {OWNER}")
    alice.execute(
        "CREATE TABLE p (id int, c text) PARTITION BY LIST (id);"
        f"CREATE TABLE p1 PARTITION OF p DEFAULT; GRANT ALL ON p, p1 TO {OWNER}"
    )
    for name in ("t", "p"):
        alice.execute(
            f"SELECT pgstream.create_stream_table('of_{name}', 'SELECT id, c FROM {name}')"
        )
    lay(alice, "public")
    alice.execute(
        "CREATE TYPE public.color AS ENUM ('red');"
        "CREATE FUNCTION public.told(public.color) RETURNS text LANGUAGE sql IMMUTABLE"
        " AS 'SELECT public.caught()::pg_catalog.text';"
        "CREATE CAST (public.color AS text) WITH FUNCTION public.told(public.color) AS IMPLICIT;"
        "ALTER TABLE public.t ALTER id TYPE bigint;"
        "INSERT INTO public.t VALUES (1, 'a', 'b'); UPDATE public.t SET id = 2;"
        "ALTER TABLE public.t ALTER c TYPE public.color USING 'red';"
        "ALTER TABLE public.p ALTER c TYPE public.color USING 'red'"
    )
    for statement in (
        "INSERT INTO public.t VALUES (1, 'red', 'b')",
        "UPDATE public.t SET id = 3",
        "DELETE FROM public.t",
        "INSERT INTO public.p VALUES (1, 'red')",
    ):
        alice.execute(statement)
    marked = "SELECT DISTINCT __pgs_action FROM pgstream_changes.changes_%s WHERE __pgs_weight = 0"
    for name in ("t", "p"):
        relid = alice.execute(f"SELECT 'public.{name}'::regclass::oid").fetchone()[0]
        assert database.connect().execute(marked % relid).fetchall() == [("S",)]
    assert calls(database, "public") == []


def test_names_mean_what_they_mean_to_the_caller(database, alice, owner):
    """Once, when the stream table is created; the name of the stream table goes to public."""
    owner.execute(
        f"CREATE SCHEMA mine; GRANT ALL ON SCHEMA mine TO {ALICE}; CREATE TABLE public.t (x int)"
    )
    alice.execute("CREATE TABLE mine.t (x int, y text); SET search_path = mine, public")
    alice.execute(f"GRANT ALL ON mine.t TO {OWNER}")
    alice.execute("SELECT pgstream.create_stream_table('st', 'SELECT y FROM t WHERE y || y > y')")
    alice.execute("SET search_path = public")
    query = "SELECT pgs_schema, defining_query FROM pgstream.pgs_stream_tables"
    assert alice.execute(query).fetchall() == [
        ("public", "SELECT y\n   FROM mine.t\n  WHERE ((y || y) > y)")
    ]


def test_our_connections_search_only_what_postgresql_has(database):
    for address in (database.dsn, own_address(database.dsn)):
        opened = connect(address) if address == database.dsn else psycopg.connect(address)
        with opened as conn:
            path = conn.execute("SELECT current_setting('search_path')").fetchone()[0]
            assert path.replace(" ", "") == "pg_catalog,pg_temp"
            assert conn.execute("SHOW row_security").fetchone() == ("off",)
    address = own_address(database.dsn + " options='-c pg_stream.block=2'")
    with psycopg.connect(address) as conn:
        assert server_settings(conn, ["block"]) == {"block": "2"}


def test_a_policy_that_comes_later_is_an_error(database, owner):
    admin = database.connect()
    admin.execute(f"CREATE TABLE t (x int); GRANT ALL ON t TO {OWNER}")
    admin.execute("ALTER TABLE t ENABLE ROW LEVEL SECURITY")
    with (
        connect(database.dsn_as(OWNER)) as conn,
        pytest.raises(psycopg.Error, match="row-level security"),
    ):
        conn.execute("SELECT * FROM public.t")
