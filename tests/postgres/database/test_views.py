"""Views as sources: the tables below them are read, with the rights that PostgreSQL asks for."""

from contextlib import contextmanager

import psycopg
import pytest

from pgstream import errors
from pgstream.catalog import store
from pgstream.client import PgStream
from pgstream.compile.expand import expand
from pgstream.database.sqlstates import translate

pytestmark = pytest.mark.postgres

OWNER = "pgs_test_owner"
ALICE = "pgs_test_alice"
BOB = "pgs_test_bob"

TABLES = """
CREATE TABLE t (id int PRIMARY KEY, g text, x int);
CREATE TABLE u (id int, t_id int, y numeric(10,2));
INSERT INTO t VALUES (1, 'a', 10), (2, 'a', NULL), (3, 'b', 30), (4, NULL, 40);
INSERT INTO u VALUES (1, 1, 1.5), (2, 1, 2), (3, 3, NULL), (3, 3, NULL), (NULL, NULL, 7);
"""


def create(conn: psycopg.Connection, name: str, query: str, mode: str = "DIFFERENTIAL") -> None:
    conn.execute(
        "SELECT pgstream.create_stream_table(%s, %s, refresh_mode => %s)", (name, query, mode)
    )


@contextmanager
def refused(sqlstate: str, match: str):
    with pytest.raises(psycopg.Error, match=match) as caught:
        yield caught
    assert caught.value.sqlstate == sqlstate, caught.value


def dependencies(conn: psycopg.Connection, name: str) -> dict[str, tuple[str, list[str]]]:
    rows = conn.execute(
        "SELECT source_relid::regclass::text, source_type, columns_used"
        " FROM pgstream.pgs_dependencies JOIN pgstream.pgs_stream_tables USING (pgs_id)"
        " WHERE pgs_name = %s",
        (name,),
    ).fetchall()
    return {relation: (kind, columns) for relation, kind, columns in rows}


def captured(conn: psycopg.Connection) -> list[str]:
    rows = conn.execute(
        "SELECT source_relid::regclass::text FROM pgstream.pgs_change_tracking ORDER BY 1"
    )
    return [name for (name,) in rows.fetchall()]


def mode(conn: psycopg.Connection, name: str) -> str:
    query = "SELECT refresh_mode FROM pgstream.pgs_stream_tables WHERE pgs_name = %s"
    return conn.execute(query, (name,)).fetchone()[0]


@pytest.fixture
def t(owner):
    owner.execute(TABLES)
    return owner


@pytest.fixture
def foreign_table(database, t):
    """A foreign table `ft` that the installing role may read; nobody answers behind it, and so no
    query over it can be planned."""
    admin = database.connect()
    admin.execute("CREATE FOREIGN DATA WRAPPER w; CREATE SERVER srv FOREIGN DATA WRAPPER w")
    admin.execute(f"CREATE FOREIGN TABLE ft (id int) SERVER srv; GRANT SELECT ON ft TO {OWNER}")


# --- sources ------------------------------------------------------------------------------------


def test_the_tables_below_are_the_sources(t):
    t.execute("CREATE VIEW low AS SELECT id, g, x + 1 AS z FROM t WHERE g <> 'c'")
    t.execute("CREATE VIEW high(k, n) AS SELECT low.g, u.y FROM low JOIN u ON u.t_id = low.id")
    create(t, "s", "SELECT high.k, t.id FROM high, t")
    assert dependencies(t, "s") == {
        "t": ("TABLE", ["g", "id", "x"]),
        "u": ("TABLE", ["t_id", "y"]),
        "low": ("VIEW", ["g", "id"]),
        "high": ("VIEW", ["k"]),
    }
    assert captured(t) == ["t", "u"]
    definitions = t.execute(
        "SELECT definition FROM pgstream.pgs_dependencies ORDER BY source_relid"
    ).fetchall()
    assert [text is not None for (text,) in definitions] == [False, False, True, True]
    assert "public.low" in definitions[3][0]


def test_views_over_stream_tables_and_partitioned_tables(t):
    t.execute("CREATE TABLE p (id int, k int) PARTITION BY LIST (k)")
    t.execute("CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1)")
    create(t, "below", "SELECT id, g FROM t")
    t.execute("CREATE VIEW v AS SELECT b.*, p.k FROM below b JOIN p USING (id)")
    create(t, "s", "SELECT * FROM v")
    kinds = {relation: kind for relation, (kind, _) in dependencies(t, "s").items()}
    assert kinds == {"below": "STREAM_TABLE", "p": "TABLE", "v": "VIEW"}
    columns = [column.name for column in t.execute("SELECT * FROM s").description]
    assert columns == ["id", "g", "k", "__pgs_row_id"]
    with refused("PS010", r"public\.s"):
        t.execute("SELECT pgstream.drop_stream_table('below')")


def test_a_view_with_rules_for_writing(t):
    t.execute("CREATE VIEW v AS SELECT id FROM t")
    t.execute("CREATE RULE r AS ON INSERT TO v DO INSTEAD INSERT INTO u (id) VALUES (NEW.id)")
    create(t, "s", "SELECT id FROM v")
    assert set(dependencies(t, "s")) == {"t", "v"}


def test_a_cycle_leads_through_a_view(t):
    create(t, "a", "SELECT id FROM t")
    t.execute("CREATE VIEW v AS SELECT id FROM a")
    create(t, "b", "SELECT id FROM v")
    path = "SELECT pgstream._cycle_path('a'::regclass, ARRAY['b'::regclass::oid])"
    assert t.execute(path).fetchone() == ("public.a -> public.b -> public.a",)


def test_full_mode_inlines_too(t):
    t.execute("CREATE VIEW v AS SELECT id FROM t")
    create(t, "s", "SELECT id FROM v", "FULL")
    assert dependencies(t, "s") == {"t": ("TABLE", ["id"]), "v": ("VIEW", ["id"])}
    assert captured(t) == []
    t.execute("SELECT pgstream.alter_stream_table('s', refresh_mode => 'DIFFERENTIAL')")
    assert captured(t) == ["t"]


def test_functions_of_views_count(t):
    t.execute("CREATE VIEW v AS SELECT id, upper(g) AS g FROM t")
    create(t, "s", "SELECT g, count(*) AS n FROM v GROUP BY g")
    row = t.execute("SELECT functions_used FROM pgstream.pgs_stream_tables").fetchone()
    assert set(row[0]) == {"upper", "count"}


@pytest.mark.parametrize(
    ("setup", "state", "says"),
    [
        ("CREATE VIEW v AS SELECT random() AS a FROM t", "PS021", r"random\(\) is volatile"),
        ("CREATE VIEW v AS SELECT relname FROM pg_class", "PS015", "pg_class.*system catalog"),
        ("CREATE VIEW v AS SELECT schemaname FROM pg_tables", "PS015", "pg_tables.*system"),
        ("CREATE VIEW v AS SELECT name FROM pgstream.pgs_migrations", "PS015", "belongs to"),
        ("CREATE VIEW v AS SELECT pgs_name FROM pgstream.stream_tables_info", "PS015", "belongs"),
        ("CREATE TEMP VIEW v AS SELECT id FROM t", "PS015", "temporary"),
        ("CREATE VIEW v AS SELECT ctid, id FROM t", "PS018", "system column"),
        ("CREATE VIEW v AS SELECT id FROM t FOR UPDATE", "PS015", "FOR UPDATE"),
        (
            "ALTER TABLE t ENABLE ROW LEVEL SECURITY; CREATE VIEW v AS SELECT id FROM t",
            "PS015",
            r"public\.t: it has row security",
        ),
        (
            "CREATE AGGREGATE total(int) (sfunc = int4pl, stype = int);"
            " CREATE FUNCTION total(text) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1';"
            " CREATE VIEW v AS SELECT total(x) AS a FROM t",
            "PS015",
            "that of a function, too",
        ),
        (
            "CREATE TABLE i (a int, __pgs_a int); CREATE VIEW v AS SELECT a FROM i",
            "PS015",
            r"public\.i.*__pgs_",
        ),
    ],
)
def test_what_a_view_hides_is_refused(t, setup, state, says):
    t.execute(setup)
    with refused(state, says) as caught:
        create(t, "s", "SELECT * FROM v")
    assert caught.value.diag.message_hint
    assert t.execute("SELECT count(*) FROM pgstream.pgs_stream_tables").fetchone() == (0,)
    assert captured(t) == []


# --- rights -------------------------------------------------------------------------------------


def register(conn: psycopg.Connection, query: str, mode: str = "FULL") -> None:
    """The private function, called as if by one who leaves the public one's checks out."""
    conn.execute(f"CREATE TEMP VIEW probe AS {query}")
    try:
        conn.execute(
            "SELECT pgstream._register('pg_temp.probe'::regclass, 's', 'x', '1m', %s, true)",
            (mode,),
        )
    finally:
        conn.execute("DROP VIEW probe")


def test_the_reader_of_a_view_needs_no_right_on_its_tables(t, alice):
    t.execute(f"CREATE VIEW v AS SELECT id, g FROM t; GRANT SELECT ON v TO {ALICE}")
    create(alice, "s", "SELECT id FROM v")
    assert dependencies(alice, "s")["t"] == ("TABLE", ["g", "id"])
    with refused("42501", "table t"):
        create(alice, "s2", "SELECT v.id FROM v, t")


def test_the_reader_needs_a_right_on_the_view(t, alice):
    t.execute("CREATE VIEW v AS SELECT id, g FROM t")
    with refused("42501", "view v"):
        create(alice, "s", "SELECT id FROM v")
    with refused("PS009", r"permission denied for view public\.v"):
        register(alice, "SELECT id FROM v")
    t.execute(f"GRANT SELECT (id) ON v TO {ALICE}")
    with refused("PS009", r"permission denied for view public\.v"):
        register(alice, "SELECT id FROM v WHERE g = 'a'")
    with refused("PS009", r"permission denied for view public\.v"):
        register(alice, "SELECT v::text AS row FROM v")
    register(alice, "SELECT id FROM v")


def test_the_owner_of_a_view_needs_rights_on_what_is_below(t, alice):
    alice.execute("CREATE VIEW v AS SELECT id FROM t")
    alice.execute(f"GRANT SELECT ON v TO {OWNER}")
    with refused("42501", "table t"):
        create(t, "s", "SELECT id FROM v")
    with refused("PS009", r"permission denied for table public\.t") as caught:
        register(t, "SELECT id FROM v")
    assert caught.value.diag.message_hint == f"GRANT SELECT ON public.t TO {ALICE}"
    t.execute(f"GRANT SELECT ON t TO {ALICE}")
    create(t, "s", "SELECT id FROM v")


@pytest.mark.parametrize("option", ["security_invoker", "security_invoker = on"])
def test_a_security_invoker_view_is_read_with_the_callers_rights(t, alice, option):
    t.execute(f"CREATE VIEW v WITH ({option}) AS SELECT id FROM t; GRANT SELECT ON v TO {ALICE}")
    t.execute(f"CREATE VIEW w AS SELECT id FROM v; GRANT SELECT ON w TO {ALICE}")
    for view in ("v", "w"):  # also below a view that is read with its owner's rights
        with refused("PS009", r"permission denied for table public\.t") as caught:
            register(alice, f"SELECT id FROM {view}")
        assert caught.value.diag.message_hint == f"GRANT SELECT ON public.t TO {ALICE}"
    t.execute(f"GRANT SELECT (id) ON t TO {ALICE}")
    create(alice, "s", "SELECT w.id FROM v, w")


def test_functions_are_called_with_the_callers_rights(t, alice):
    t.execute("CREATE FUNCTION f(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1'")
    t.execute("REVOKE ALL ON FUNCTION f FROM PUBLIC")
    t.execute(f"CREATE VIEW v AS SELECT f(id) AS id FROM t; GRANT SELECT ON v TO {ALICE}")
    with refused("PS009", r"permission denied for function public\.f"):
        register(alice, "SELECT id FROM v")
    t.execute(f"GRANT EXECUTE ON FUNCTION f TO {ALICE}")
    register(alice, "SELECT id FROM v")


def test_the_function_of_another_role_does_not_hide_in_a_view(t, alice):
    alice.execute("CREATE FUNCTION f(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1'")
    t.execute("CREATE VIEW v AS SELECT f(id) AS id FROM t")
    with refused("PS009", "does not belong to role"):
        create(t, "s", "SELECT id FROM v")


def test_all_that_an_aggregate_is_made_of_belongs_to_trusted_roles(t, alice):
    alice.execute("CREATE FUNCTION plus(int, int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1'")
    alice.execute("CREATE DOMAIN whole AS int")
    t.execute("CREATE AGGREGATE added(int) (sfunc = plus, stype = int)")
    t.execute("CREATE FUNCTION keep(whole, int) RETURNS whole LANGUAGE sql IMMUTABLE AS 'SELECT 1'")
    t.execute("CREATE AGGREGATE kept(int) (sfunc = keep, stype = whole, initcond = '0')")
    t.execute("CREATE AGGREGATE highest(int) (sfunc = int4larger, stype = int)")
    t.execute("CREATE VIEW v AS SELECT added(id) AS id FROM t")
    for query, stranger in (
        ("SELECT id FROM v", r"function public\.plus\(integer,integer\)"),
        ("SELECT added(id) OVER () AS id FROM t", r"function public\.plus\(integer,integer\)"),
        ("SELECT kept(id) AS id FROM t", r"type public\.whole"),
    ):
        with refused("PS009", f"{stranger} does not belong to role"):
            create(t, "s", query)
    create(t, "s", "SELECT highest(id) AS id FROM t")
    trusted = "SELECT pgstream._require_trusted_names(pgs_id) FROM pgstream.pgs_stream_tables"
    t.execute(trusted)
    alice.execute("CREATE AGGREGATE highest(bigint) (sfunc = int8larger, stype = bigint)")
    with refused("PS009", r"public\.highest\(bigint\) does not belong to role"):
        t.execute(trusted)


def test_the_installing_role_needs_rights_on_the_tables(database, owner):
    admin = database.connect()
    admin.execute("CREATE TABLE far (a int); CREATE VIEW v AS SELECT a FROM far")
    for grant in (
        f"GRANT SELECT ON public.far TO {OWNER}",
        f"GRANT TRIGGER ON public.far TO {OWNER}",
    ):
        with refused("PS009", OWNER) as caught:
            create(admin, "s", "SELECT a FROM v")
        assert caught.value.diag.message_hint == grant
        admin.execute(grant)
    create(admin, "s", "SELECT a FROM v")


def test_views_stay_as_they_are_while_they_are_checked(database, t):
    t.execute("CREATE VIEW low AS SELECT id FROM t; CREATE VIEW high AS SELECT id FROM low")
    other = database.connect(OWNER)
    other.execute("SET lock_timeout = '100ms'")
    with t.transaction(force_rollback=True):
        register(t, "SELECT id FROM high")
        for view in ("low", "high"):
            with refused("55P03", "lock timeout"):
                other.execute(f"CREATE OR REPLACE VIEW {view} AS SELECT 1 AS id")


# --- the expanded query -------------------------------------------------------------------------

VIEWS = """
CREATE VIEW plain AS SELECT id, g, x FROM t;
CREATE VIEW renamed(a, "B b") AS SELECT g, x FROM t;
CREATE VIEW nested AS SELECT p.id, p.g FROM plain p WHERE p.x > 1;
CREATE VIEW grouped AS SELECT g, count(*) AS n, sum(x) AS s FROM plain GROUP BY g HAVING sum(x) > 0;
CREATE VIEW combined AS SELECT id FROM t EXCEPT SELECT t_id FROM u;
CREATE VIEW with_cte AS WITH t AS (SELECT id, x FROM public.t) SELECT id, x FROM t;
CREATE RECURSIVE VIEW counted(n) AS SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < 4;
CREATE VIEW listed(a, b) AS VALUES (1, 'x'), (2, 'y''z');
CREATE VIEW ordered AS SELECT DISTINCT ON (g) g, x FROM t ORDER BY g, x DESC;
CREATE VIEW ranked AS SELECT id, row_number() OVER (PARTITION BY g ORDER BY id) AS r FROM t;
CREATE VIEW "Odd name" AS SELECT id AS "Id", '100%' AS p FROM t;
CREATE VIEW view AS SELECT id FROM t;
ALTER VIEW renamed RENAME COLUMN a TO aa;
"""


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM plain",
        "SELECT id FROM nested",
        "SELECT r.* FROM renamed r",
        'SELECT q.one, q.two FROM renamed AS q(one, two) WHERE q.two > 1',
        "SELECT g, n, s FROM grouped WHERE n > 1",
        "SELECT id FROM combined UNION ALL SELECT id FROM nested",
        "SELECT w.x, t.g FROM with_cte w JOIN t USING (id)",
        "WITH plain AS (SELECT id FROM public.plain) SELECT plain.id FROM plain",
        "SELECT n FROM counted",
        "SELECT a, b FROM listed",
        "SELECT g, x FROM ordered",
        "SELECT id FROM ranked WHERE r = 1",
        'SELECT "Id", p FROM "Odd name"',
        "SELECT view.id FROM view",
        "SELECT a.id, b.g FROM plain a JOIN plain b ON a.id = b.x",
        "SELECT plain.id, t.g FROM plain, t WHERE t.id = plain.id",
        "SELECT t.id FROM t WHERE EXISTS (SELECT 1 FROM nested n WHERE n.id = t.id)",
        "SELECT id FROM t WHERE g IN (SELECT g FROM grouped) AND x > (SELECT min(x) FROM plain)",
        "SELECT t.id, l.id AS l FROM t, LATERAL (SELECT p.id FROM plain p WHERE p.g = t.g) l",
        "SELECT t.id, p.g FROM t LEFT JOIN (plain p JOIN u ON u.t_id = p.id) ON p.x = t.x",
        "SELECT 'public.plain' AS name, id FROM plain",
    ],
)  # fmt: skip
def test_the_expanded_query_reads_tables_only_and_answers_the_same(t, query):
    t.execute(VIEWS)
    create(t, "s", query, "FULL")
    table = expand(t, store.stream_table(t, "s"))
    assert table.original_query == query
    t.execute(f"CREATE TEMP VIEW expanded AS {table.defining_query}".encode())
    kinds = t.execute(
        "SELECT relkind::text FROM pgstream._direct_sources('pg_temp.expanded'::regclass)"
        " JOIN pg_class c ON c.oid = relid WHERE relkind <> 'r'"
    )
    assert kinds.fetchall() == []
    for first, second in ((query, table.defining_query), (table.defining_query, query)):
        text = f"SELECT * FROM ({first}) a EXCEPT ALL SELECT * FROM ({second}) b"
        assert t.execute(text.encode()).fetchall() == []
    assert expand(t, table) == table


def test_no_alias_of_the_expanded_query_hides_another(t):
    """A name of the outer query is not one of a subquery: correlations stay in sight."""
    t.execute("CREATE VIEW v AS SELECT t.id FROM t")
    create(t, "s", "SELECT t.id FROM t WHERE EXISTS (SELECT 1 FROM v WHERE v.id = t.id)")
    query = expand(t, store.stream_table(t, "s")).defining_query
    assert "FROM public.t t_1" in query


@pytest.fixture
def client(database, t):
    with PgStream(database.dsn_as(OWNER)) as stream:
        yield stream


def test_creation_stores_the_expanded_query(client):
    client.execute("CREATE VIEW v AS SELECT id, x FROM t")
    query = "SELECT sum(v.x) AS n FROM v -- all of it"
    client.create_stream_table("s", query, initialize=False)
    table = client.table("s")
    assert table.original_query == query
    assert "public.v" not in table.defining_query
    assert "public.t" in table.defining_query
    assert [view.name for view in table.views] == ["v"]
    assert [source.name for source in table.dependencies] == ["t"]
    sources = dict(client.explain("s"))["Source Tables"]
    assert sources.startswith("public.t (oid=")
    assert sources.count("oid=") == 1


def test_a_query_without_views_is_stored_as_it_was(client):
    client.execute("SELECT pgstream.create_stream_table('sql', 'SELECT id, x FROM t WHERE x > 1')")
    client.create_stream_table("python", "SELECT id, x FROM t WHERE x > 1", initialize=False)
    assert client.table("sql").defining_query == client.table("python").defining_query


def test_what_was_checked_is_inlined_and_not_what_a_view_became(client):
    client.execute("CREATE TABLE secret (id int)")
    client.execute("CREATE VIEW v AS SELECT id FROM t")
    client.execute("SELECT pgstream.create_stream_table('s', 'SELECT id FROM v')")
    client.execute("CREATE OR REPLACE VIEW v AS SELECT id FROM secret")
    query = expand(client.connection, client.table("s")).defining_query
    assert "public.t" in query
    assert "secret" not in query


@pytest.mark.parametrize(
    ("definition", "says"),
    [
        ("SELECT 'x' AS id", r"columns id text .* instead of id integer\."),
        ("SELECT id FROM public.nowhere", r"public\.nowhere"),
    ],
)
def test_an_expanded_query_that_does_not_answer_the_same_columns_is_refused(
    client, definition, says
):
    client.execute("CREATE VIEW v AS SELECT id FROM t")
    client.execute("SELECT pgstream.create_stream_table('s', 'SELECT id FROM v')")
    client.execute(
        "UPDATE pgstream.pgs_dependencies SET definition = %s WHERE source_type = 'VIEW'",
        (definition,),
    )
    with pytest.raises(errors.UnsupportedConstruct, match=says):
        client.explain("s")
    assert client.execute("SELECT to_regclass('pg_temp.__pgs_expanded')") == [(None,)]


def test_what_a_view_contains_is_refused_without_a_place_in_the_users_text(client):
    client.execute("CREATE VIEW v AS SELECT id FROM t TABLESAMPLE BERNOULLI (10)")
    with pytest.raises(errors.UnsupportedConstruct, match="TABLESAMPLE") as caught:
        client.create_stream_table("s", "SELECT id FROM v")
    assert caught.value.line is None
    assert "its views: public.v" in caught.value.detail


# --- materialized views and foreign tables ------------------------------------------------------

UNCAPTURED = [
    ("m", "materialized view", "stale snapshot", "Use its query, or refresh_mode => 'FULL'."),
    ("ft", "foreign table", "row triggers cannot be created", "Use refresh_mode => 'FULL'"),
]


@pytest.fixture
def uncaptured(t, foreign_table):
    t.execute("CREATE MATERIALIZED VIEW m AS SELECT id FROM t")
    t.execute("CREATE VIEW over_m AS SELECT id FROM m; CREATE VIEW over_ft AS SELECT id FROM ft")
    return t


@pytest.mark.parametrize(("name", "kind", "reason", "way_out"), UNCAPTURED)
@pytest.mark.parametrize("below", ["", "over_"])
def test_differential_is_refused(uncaptured, name, kind, reason, way_out, below):
    says = rf"the changes of public\.{name} cannot be captured: it is a {kind}"
    with refused("PS015", says) as caught:
        register(uncaptured, f"SELECT id FROM {below}{name}", "DIFFERENTIAL")
    assert reason in caught.value.diag.message_detail
    assert caught.value.diag.message_hint.startswith(way_out)
    assert isinstance(translate(caught.value), errors.UnsupportedConstruct)
    assert captured(uncaptured) == []


@pytest.mark.parametrize(("name", "kind"), [row[:2] for row in UNCAPTURED])
@pytest.mark.parametrize("below", ["", "over_"])
def test_auto_becomes_full_with_a_warning(uncaptured, name, kind, below):
    warned = []
    uncaptured.add_notice_handler(lambda notice: warned.append(notice.message_primary))
    register(uncaptured, f"SELECT id FROM {below}{name}", "AUTO")
    said = (
        f"the changes of {kind} public.{name} cannot be captured:"
        " the stream table is refreshed in FULL mode"
    )
    assert warned == [said]
    uncaptured.execute("SELECT pgstream.alter_stream_table('s', refresh_mode => 'AUTO')")
    assert warned == [said, said]
    assert mode(uncaptured, "s") == "FULL"
    assert captured(uncaptured) == []
    alter = "SELECT pgstream.alter_stream_table('s', refresh_mode => 'DIFFERENTIAL')"
    with refused("PS015", kind):
        uncaptured.execute(alter)
    assert mode(uncaptured, "s") == "FULL"


def test_full_is_accepted_without_a_warning(uncaptured):
    warned = []
    uncaptured.add_notice_handler(lambda notice: warned.append(notice.message_primary))
    register(uncaptured, "SELECT m.id, f.id AS f FROM m JOIN over_ft f USING (id)")
    assert warned == []
    assert dependencies(uncaptured, "s") == {
        "m": ("TABLE", ["id"]),
        "ft": ("TABLE", ["id"]),
        "over_ft": ("VIEW", ["id"]),
    }
