"""What is installed is what the files say; another version of the files is an upgrade."""

import re
from dataclasses import replace

import psycopg
import pytest

from pgstream.database import migrate, sql_functions
from pgstream.database.connection import connect
from pgstream.database.sql_functions import SqlFile, in_order, sql_files
from pgstream.errors import NotInstalled, PgStreamError

pytestmark = pytest.mark.postgres

OWNER = "pgs_test_owner"
ALICE = "pgs_test_alice"

MADE = """
SELECT 'function', oid::regprocedure::text, pg_get_functiondef(oid),
       (SELECT array_agg(a::text ORDER BY a::text) FROM unnest(proacl) a)
  FROM pg_proc WHERE pronamespace = 'pgstream'::regnamespace
UNION ALL
SELECT 'view', oid::regclass::text, pg_get_viewdef(oid),
       (SELECT array_agg(a::text ORDER BY a::text) FROM unnest(relacl) a)
  FROM pg_class WHERE relnamespace = 'pgstream'::regnamespace AND relkind = 'v'
ORDER BY 1, 2
"""


def made(conn: psycopg.Connection) -> list[tuple]:
    return conn.execute(MADE).fetchall()


def value(conn: psycopg.Connection, query: str, *parameters: object) -> object:
    return conn.execute(query, parameters).fetchone()[0]


def function(name: str, arguments: str, returns: str, body: str, types: str = "") -> SqlFile:
    return SqlFile(
        "test",
        name,
        f"-- A test.\nCREATE OR REPLACE FUNCTION pgstream.{name}({arguments}) RETURNS {returns}\n"
        f"LANGUAGE sql AS $$ {body} $$;\n\n"
        f"GRANT EXECUTE ON FUNCTION pgstream.{name}({types}) TO PUBLIC;\n",
    )


def view(name: str, query: str) -> SqlFile:
    text = f"-- A test.\nCREATE OR REPLACE VIEW pgstream.{name} AS\n{query};\n\n"
    return SqlFile("test", name, f"{text}GRANT SELECT ON pgstream.{name} TO PUBLIC;\n")


@pytest.fixture
def give(monkeypatch):
    """The files of this version, with others added or in their place."""

    def set_files(*more: SqlFile, without: tuple[str, ...] = ()) -> None:
        names = {*without, *(file.name for file in more)}
        files = in_order([*more, *(file for file in sql_files() if file.name not in names)])
        monkeypatch.setattr(sql_functions, "sql_files", lambda: files)

    return set_files


# --- what is installed ---------------------------------------------------------------------------


def test_every_function_and_view_is_of_a_file_and_every_file_is_there(owner):
    signatures = [each for file in sql_files() for each in file.signatures]
    wanted = {("function", value(owner, "SELECT %s::regprocedure::text", s)) for s in signatures}
    wanted |= {("view", f"pgstream.{file.name}") for file in sql_files() if file.is_view}
    assert {(kind, name) for kind, name, _, _ in made(owner)} == wanted
    elsewhere = "SELECT count(*) FROM pg_proc WHERE pronamespace::regnamespace::text ~ '^pgstream_'"
    assert value(owner, elsewhere) == 0


def test_the_bodies_are_those_of_the_files(owner):
    texts = {f"pgstream.{file.name}": file.text for file in sql_files()}
    rows = owner.execute(
        "SELECT format('pgstream.%s', proname), prosrc FROM pg_proc"
        " WHERE pronamespace = 'pgstream'::regnamespace"
    ).fetchall()
    assert [name for name, body in rows if body not in texts[name]] == []


def test_everybody_may_execute_what_the_files_grant_and_nothing_else(owner):
    for file in sql_files():
        for signature in file.signatures:
            granted = f"GRANT EXECUTE ON FUNCTION {signature} TO PUBLIC;" in file.text
            query = f"SELECT has_function_privilege('{ALICE}', %s, 'EXECUTE')"
            assert value(owner, query, signature) is granted, signature


def test_postgresql_finds_every_body_valid(owner):
    """Installing does not check them, because they name each other."""
    owner.execute("SET check_function_bodies = on")
    for language, validator in (("sql", "fmgr_sql_validator"), ("plpgsql", "plpgsql_validator")):
        owner.execute(
            f"SELECT {validator}(p.oid) FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang"
            " WHERE pronamespace = 'pgstream'::regnamespace AND lanname = %s",
            (language,),
        )


def test_our_own_connections_install(bare_database):
    """They refuse to read views, search no schema of a user's."""
    with connect(bare_database.dsn_as(OWNER)) as conn:
        migrate.install(conn)
        migrate.require(conn)


# --- upgrades ------------------------------------------------------------------------------------


def test_other_functions_are_an_upgrade(owner, give):
    before = made(owner)
    migrate.require(owner)
    give(function("one_more", "", "int", "SELECT 1"))
    with pytest.raises(NotInstalled, match=r"functions .* not those of this version") as refused:
        migrate.require(owner)
    assert refused.value.hint == "Run: pgstream init"
    assert migrate.install(owner) == ["functions"]
    assert migrate.install(owner) == []
    migrate.require(owner)
    assert value(owner, "SELECT pgstream.one_more()") == 1
    give()
    assert migrate.install(owner) == ["functions"]
    assert made(owner) == before


def test_applying_again_changes_nothing(owner, give, monkeypatch):
    before = made(owner)
    first, *rest = sql_files()
    more = replace(first, text=f"{first.text}-- Another hash.\n")
    monkeypatch.setattr(sql_functions, "sql_files", lambda: (more, *rest))
    assert migrate.install(owner) == ["functions"]
    assert made(owner) == before


def test_rights_follow_the_file(owner, give):
    file = function("one_more", "", "int", "SELECT 1")
    closed = re.sub(r"GRANT EXECUTE (.*) TO PUBLIC", r"REVOKE ALL \1 FROM PUBLIC", file.text)
    allowed = f"SELECT has_function_privilege('{ALICE}', 'pgstream.one_more()', 'EXECUTE')"
    for text, expected in ((file.text, True), (closed, False), (file.text, True)):
        give(replace(file, text=text))
        migrate.install(owner)
        assert value(owner, allowed) is expected


def test_a_function_may_get_another_signature_or_result(owner, give):
    for file, call, expected in (
        (function("f", "a int", "int", "SELECT a", "int"), "f(1)", "1"),
        (function("f", "b int", "int", "SELECT b", "int"), "f(b => 1)", "1"),
        (function("f", "b int", "text", "SELECT 'text ' || b", "int"), "f(1)", "text 1"),
        (function("f", "b bigint", "text", "SELECT 'big ' || b", "bigint"), "f(1)", "big 1"),
        (function("f", "b bigint, OUT x int, OUT y int", "record", "SELECT 1, 2", "bigint"),
         "f(1)", "(1,2)"),
    ):  # fmt: skip
        give(file)
        migrate.install(owner)
        assert value(owner, f"SELECT pgstream.{call}::text") == expected
        assert value(owner, "SELECT count(*) FROM pg_proc WHERE proname = 'f'") == 1


def test_views_of_ours_follow_their_functions(owner, give):
    for file, expected in (
        (function("f", "a int", "int", "SELECT a", "int"), "integer"),
        (function("f", "a int", "text", "SELECT a::text", "int"), "text"),
        (function("f", "a bigint", "bigint", "SELECT a", "bigint"), "bigint"),
    ):
        give(file, view("v", "SELECT pgstream.f(1) AS x"), view("a", "SELECT x FROM pgstream.v"))
        migrate.install(owner)
        assert value(owner, "SELECT pg_typeof(x)::text FROM pgstream.a") == expected
    give(view("v", "SELECT 1 AS other"))
    migrate.install(owner)
    assert value(owner, "SELECT other FROM pgstream.v") == 1
    give()
    migrate.install(owner)
    assert value(owner, "SELECT to_regclass('pgstream.v') IS NULL")


def test_what_a_user_has_built_on_ours_is_never_dropped(owner, give):
    v = view("v", "SELECT pgstream.f(1) AS x")
    give(function("f", "a int", "int", "SELECT a", "int"), v)
    migrate.install(owner)
    owner.execute("CREATE VIEW mine AS SELECT x FROM pgstream.v")
    give(function("f", "a int", "int", "SELECT a + 1", "int"), v)
    migrate.install(owner)  # replaced in place
    assert value(owner, "SELECT x FROM mine") == 2
    before = made(owner)
    give(function("f", "a int", "text", "SELECT 'x'", "int"), v)
    with pytest.raises(PgStreamError, match="of yours depends") as refused:
        migrate.install(owner)
    assert "view mine depends on view pgstream.v" in refused.value.detail.replace("public.", "")
    assert made(owner) == before
    owner.execute("DROP VIEW mine")
    migrate.install(owner)
    assert value(owner, "SELECT x FROM pgstream.v") == "x"


def test_a_broken_file_changes_nothing(owner, give):
    before = made(owner)
    give(function("one_more", "", "int", "SELECT 1"), SqlFile("z", "y", "SELECT 1 / 0;"))
    with pytest.raises(psycopg.errors.DivisionByZero):
        migrate.install(owner)
    assert made(owner) == before


def test_capture_goes_on_with_functions_of_this_version(owner, give):
    owner.execute("CREATE TABLE t (id int)")
    owner.execute("SELECT pgstream.create_stream_table('s', 'SELECT id FROM t')")
    source = value(owner, "SELECT 't'::regclass::oid")
    file = next(file for file in sql_files() if file.name == "_statement_capture")
    give(replace(file, text=file.text.replace("RETURN NULL;", "RETURN NULL;  -- as of now")))
    migrate.install(owner)
    body = value(owner, f"SELECT prosrc FROM pg_proc WHERE proname = 'capture_{source}'")
    assert "-- as of now" in body
    owner.execute("INSERT INTO t VALUES (1)")
    assert value(owner, f"SELECT count(*) FROM pgstream_changes.changes_{source}") == 1
    with pytest.raises(psycopg.Error, match="maintained by pgstream"):
        owner.execute("INSERT INTO s VALUES (1)")
