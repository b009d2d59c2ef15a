"""The SQL functions, without a worker, and with a thread that plays one."""

import threading
import time
from contextlib import contextmanager

import psycopg
import pytest

from pgstream import errors
from pgstream.database.sqlstates import ERRORS, translate

pytestmark = pytest.mark.postgres

OWNER = "pgs_test_owner"
ALICE = "pgs_test_alice"
BOB = "pgs_test_bob"

WORKER, REFRESH, REQUEST = 1885827073, 1885827074, 1885827075


def objects(conn: psycopg.Connection) -> list[tuple]:
    return conn.execute(
        "SELECT 'class', oid::int8, relname::text FROM pg_class"
        " UNION ALL SELECT 'proc', oid::int8, proname::text FROM pg_proc"
        " UNION ALL SELECT 'trigger', oid::int8, tgname::text FROM pg_trigger"
        " UNION ALL SELECT 'stream', pgs_id, pgs_name FROM pgstream.pgs_stream_tables"
        " UNION ALL SELECT 'source', source_relid::int8, tracked_by_pgs_ids::text"
        " FROM pgstream.pgs_change_tracking"
        " ORDER BY 1, 2"
    ).fetchall()


def create(conn: psycopg.Connection, name, query, *args) -> None:
    marks = ", ".join(["%s"] * (2 + len(args)))
    conn.execute(f"SELECT pgstream.create_stream_table({marks})", (name, query, *args))


def stream_table(conn: psycopg.Connection, name: str, columns: str) -> tuple:
    query = f"SELECT {columns} FROM pgstream.pgs_stream_tables WHERE pgs_name = %s"
    return conn.execute(query, (name,)).fetchone()


@contextmanager
def refused(sqlstate: str, match: str | None = None):
    with pytest.raises(psycopg.Error, match=match) as caught:
        yield caught
    assert caught.value.sqlstate == sqlstate, caught.value


@pytest.fixture
def t(owner):
    """A source that everybody in the tests may read, but Bob."""
    owner.execute("CREATE TABLE t (id int PRIMARY KEY, v text, n numeric(10,2))")
    owner.execute(f"GRANT SELECT ON t TO {ALICE}")
    return owner


# --- create -------------------------------------------------------------------------------------


def test_create_registers_all(t):
    create(t, "s", "SELECT id, upper(v) AS u, n, 'x' AS x FROM t WHERE id > 0;", "1h30m")
    assert stream_table(
        t, "s", "pgs_schema, schedule, refresh_mode, status, is_populated, owner_role, frontier"
    ) == ("public", "1h30m", "DIFFERENTIAL", "INITIALIZING", False, OWNER, None)
    columns = (
        "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute"
        " WHERE attrelid = 's'::regclass AND attnum > 0 ORDER BY attnum"
    )
    assert t.execute(columns).fetchall() == [
        ("id", "integer"),
        ("u", "text"),
        ("n", "numeric(10,2)"),
        ("x", "text"),
        ("__pgs_row_id", "bigint"),
    ]
    assert t.execute(
        "SELECT source_relid = 't'::regclass, source_type, columns_used, cdc_mode"
        " FROM pgstream.pgs_dependencies"
    ).fetchall() == [(True, "TABLE", ["id", "n", "v"], "TRIGGER")]
    assert t.execute("SELECT tracked_by_pgs_ids FROM pgstream.pgs_change_tracking").fetchall() == [
        ([1],)
    ]
    assert stream_table(t, "s", "original_query") == (
        "SELECT id, upper(v) AS u, n, 'x' AS x FROM t WHERE id > 0;",
    )
    assert stream_table(t, "s", "functions_used") == (["upper"],)
    assert t.execute("SELECT count(*) FROM pg_index WHERE indrelid = 's'::regclass").fetchone() == (
        1,
    )
    t.execute("INSERT INTO t VALUES (1, 'a', 1)")
    assert t.execute(f"SELECT count(*) FROM {buffer(t, 't')}").fetchone() == (1,)


def buffer(conn: psycopg.Connection, relation: str) -> str:
    row = conn.execute("SELECT %s::regclass::oid::text", (relation,)).fetchone()
    return f"pgstream_changes.changes_{row[0]}"


def test_defining_query_is_qualified_and_search_path_is_restored(database, t):
    database.connect().execute(f"CREATE SCHEMA far AUTHORIZATION {OWNER}")
    t.execute("CREATE TABLE far.u (id int)")
    t.execute("CREATE FUNCTION far.f(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1'")
    t.execute("SET search_path = far, public")
    create(t, "far.s", "WITH c AS (SELECT id FROM u) SELECT f(c.id) AS id FROM c JOIN t USING (id)")
    query = stream_table(t, "s", "defining_query")[0]
    assert "far.u" in query
    assert "public.t" in query
    assert "far.f(" in query
    assert not query.endswith(";")
    assert t.execute("SHOW search_path").fetchone() == ("far, public",)
    assert stream_table(t, "s", "functions_used") == (["far.f"],)
    assert t.execute("SELECT to_regclass('pg_temp.__pgs_probe')").fetchone() == (None,)


def test_storage_keeps_modifiers_and_collations(t):
    create(
        t,
        "s",
        'SELECT v COLLATE "C" AS c, n, n::varchar(7) AS w, ARRAY[n] AS a, true::bit(3)'
        " AS b FROM t".replace("true::bit(3)", "B'101'::bit(3)"),
    )
    rows = t.execute(
        "SELECT attname, format_type(atttypid, atttypmod), attcollation::regcollation::text"
        " FROM pg_attribute WHERE attrelid = 's'::regclass AND attnum > 0 ORDER BY attnum"
    ).fetchall()
    assert rows == [
        ("c", "text", '"C"'),
        ("n", "numeric(10,2)", "-"),
        ("w", "character varying(7)", '"default"'),
        ("a", "numeric(10,2)[]", "-"),
        ("b", "bit(3)", "-"),
        ("__pgs_row_id", "bigint", "-"),
    ]


def test_initialize_false_and_constant_query(owner):
    owner.execute(
        "SELECT pgstream.create_stream_table('s', 'VALUES (1, ''a'')', initialize => false)"
    )
    assert stream_table(owner, "s", "status, is_populated") == ("ACTIVE", False)
    assert owner.execute("SELECT count(*) FROM pgstream.pgs_dependencies").fetchone() == (0,)


def test_full_mode_captures_nothing_and_reads_views(t):
    t.execute("CREATE VIEW w AS SELECT id FROM t")
    t.execute("CREATE MATERIALIZED VIEW m AS SELECT id FROM t")
    create(t, "s", "SELECT w.id FROM w, m", "1m", "full")
    assert t.execute("SELECT count(*) FROM pgstream.pgs_change_tracking").fetchone() == (0,)
    assert t.execute(
        "SELECT source_relid::regclass::text, source_type FROM pgstream.pgs_dependencies ORDER BY 1"
    ).fetchall() == [("m", "TABLE"), ("t", "TABLE"), ("w", "VIEW")]


@pytest.mark.parametrize(
    "schedule",
    [
        "60s",
        "1w2d3h4m5s",
        "90m",
        "*/5 * * * *",
        "0 */5 * * * *",
        "0 6 * * 1-5",
        "0 0 1,15 jan-mar MON",
        "@hourly",
        "@daily",
        " @weekly ",
    ],
)
def test_schedules(owner, schedule):
    create(owner, "s", "SELECT 1 AS a", schedule)
    assert stream_table(owner, "s", "schedule") == (schedule.strip(),)


@pytest.mark.parametrize("schedule", [None, "calculated"])
def test_calculated(owner, schedule):
    create(owner, "s", "SELECT 1 AS a", schedule)
    assert stream_table(owner, "s", "schedule") == (None,)


def test_min_schedule_is_a_setting(owner):
    owner.execute("SET pg_stream.min_schedule_seconds = 5")
    create(owner, "s", "SELECT 1 AS a", "5s")
    with refused("PS003", "minimum of 5 s"):
        create(owner, "s2", "SELECT 1 AS a", "4s")


def test_duration(owner):
    durations = owner.execute(
        "SELECT pgstream._duration(d)::text"
        " FROM unnest(ARRAY['1h30m', '1w', '0s', '', 'm', '@daily'])"
        " WITH ORDINALITY u(d, i) ORDER BY i"
    ).fetchall()
    assert [d for (d,) in durations] == ["01:30:00", "168:00:00", "00:00:00", None, None, None]


BAD = [
    # state, name, query, schedule, mode, what the message says
    ("PS001", "a.b.c", "SELECT 1 AS a", "1m", "FULL", "not the name"),
    ("PS001", "", "SELECT 1 AS a", "1m", "FULL", "not the name"),
    ("PS001", None, "SELECT 1 AS a", "1m", "FULL", "not the name"),
    ("PS001", "1x", "SELECT 1 AS a", "1m", "FULL", "not the name"),
    ("PS001", "x" * 64, "SELECT 1 AS a", "1m", "FULL", "too long"),
    ("PS001", '"' + "ü" * 32 + '"', "SELECT 1 AS a", "1m", "FULL", "too long"),
    ("PS001", "nowhere.s", "SELECT 1 AS a", "1m", "FULL", "does not exist"),
    ("PS001", "pgstream.s", "SELECT 1 AS a", "1m", "FULL", "reserved"),
    ("PS002", "t", "SELECT 1 AS a", "1m", "FULL", "already exists"),
    ("PS003", "s", "SELECT 1 AS a", "", "FULL", "neither"),
    ("PS003", "s", "SELECT 1 AS a", "5", "FULL", "neither"),
    ("PS003", "s", "SELECT 1 AS a", "5x", "FULL", "neither"),
    ("PS003", "s", "SELECT 1 AS a", "30m1h", "FULL", "neither"),
    ("PS003", "s", "SELECT 1 AS a", "1m1m", "FULL", "neither"),
    ("PS003", "s", "SELECT 1 AS a", "59s", "FULL", "shorter"),
    ("PS003", "s", "SELECT 1 AS a", "0s", "FULL", "shorter"),
    ("PS003", "s", "SELECT 1 AS a", "every day at noon please", "FULL", "neither"),
    ("PS003", "s", "SELECT 1 AS a", "60 * * * *", "FULL", "neither"),
    ("PS003", "s", "SELECT 1 AS a", "* * * *", "FULL", "neither"),
    ("PS003", "s", "SELECT 1 AS a", "@never", "FULL", "neither"),
    ("PS004", "s", "SELECT 1 AS a", "1m", "FAST", "not a refresh mode"),
    ("PS004", "s", "SELECT 1 AS a", "1m", None, "not a refresh mode"),
    ("PS005", "s", None, "1m", "FULL", "empty"),
    ("PS005", "s", " -- nothing\n /* at\nall */ ; ", "1m", "FULL", "empty"),
    ("PS006", "s", "SELECT 1 AS a; SELECT 2 AS b", "1m", "FULL", "several"),
    ("PS006", "s", "SELECT 1 AS a; DROP TABLE t", "1m", "FULL", "several"),
    ("PS007", "s", "DELETE FROM t", "1m", "FULL", "not a SELECT"),
    ("PS007", "s", "DELETE FROM t RETURNING id", "1m", "FULL", "not a SELECT"),
    ("PS007", "s", "WITH d AS (DELETE FROM t RETURNING id) TABLE d", "1m", "FULL", "not a"),
    ("PS015", "s", "SELECT id INTO made FROM t", "1m", "FULL", "SELECT INTO is not"),
    ("PS015", "s", "SELECT id FROM t FOR UPDATE", "1m", "FULL", "FOR UPDATE / FOR SHARE is"),
    ("PS007", "s", "CREATE TABLE made (a int)", "1m", "FULL", "not a SELECT"),
    ("PS007", "s", "EXPLAIN ANALYZE DELETE FROM t", "1m", "FULL", "not a SELECT"),
    ("PS007", "s", "SHOW work_mem", "1m", "FULL", "not a SELECT"),
    ("PS008", "s", "SELECT id FROM s", "1m", "FULL", r"public\.s -> public\.s"),
    ("PS008", "s", "SELECT id FROM public.s", "1m", "FULL", r"public\.s -> public\.s"),
    ("PS015", "s", "SELECT relname FROM pg_class", "1m", "FULL", "system catalog"),
    ("PS015", "s", "SELECT 1 AS a WHERE EXISTS (SELECT FROM pg_class)", "1m", "FULL", "system"),
    ("PS015", "s", "SELECT 1 AS a FROM information_schema.tables", "1m", "FULL", "system"),
    ("PS015", "s", "SELECT number FROM pgstream.pgs_migrations", "1m", "FULL", "belongs to"),
    ("PS015", "s", "SELECT a FROM tmp", "1m", "FULL", "temporary table"),
    ("PS015", "s", "SELECT last_value FROM seq", "1m", "FULL", "not a table"),
    ("PS015", "s", "SELECT id FROM m", "1m", "DIFFERENTIAL", "is a materialized view"),
    ("PS015", "s", "SELECT pg_temp.tf(id) FROM t", "1m", "FULL", "temporary function"),
    ("PS018", "s", "SELECT FROM t", "1m", "FULL", "no columns"),
    ("PS018", "s", "SELECT id AS __pgs_row_id FROM t", "1m", "FULL", "reserved"),
    ("PS018", "s", "SELECT row(1, 2) AS r", "1m", "FULL", "pseudo-type"),
    ("PS018", "s", "SELECT id, id FROM t", "1m", "FULL", "more than once"),
    ("PS018", "s", "SELECT id, ctid FROM t", "1m", "FULL", "system column"),
    ("42601", "s", "SELECT id FRM t WHERE", "1m", "FULL", "syntax error"),
    ("42P01", "s", "SELECT id FROM missing", "1m", "FULL", "missing"),
    ("42P01", "s", "SELECT id FROM other.s", "1m", "FULL", "other.s"),
    ("42703", "s", "SELECT nope FROM t", "1m", "FULL", "nope"),
    ("42883", "s", "SELECT nope(id) FROM t", "1m", "FULL", "nope"),
    ("42804", "s", "SELECT CASE WHEN id THEN 1 END FROM t", "1m", "FULL", "boolean"),
    ("PS015", "s", "SELECT $1 AS a", "1m", "FULL", "parameter is not supported"),
]  # fmt: skip


@pytest.mark.parametrize("autocommit", [True, False])
def test_refusals_leave_nothing(t, autocommit):
    t.execute("CREATE TEMP TABLE tmp (a int)")
    t.execute("CREATE SEQUENCE seq")
    t.execute("CREATE MATERIALIZED VIEW m AS SELECT id FROM t")
    t.execute("CREATE FUNCTION pg_temp.tf(int) RETURNS int LANGUAGE sql AS 'SELECT 1'")
    t.execute("INSERT INTO t VALUES (1, 'a', 1)")
    before = objects(t)
    t.autocommit = autocommit
    for state, name, query, schedule, mode, says in BAD:
        with refused(state, says) as caught, t.transaction():
            create(t, name, query, schedule, mode)
        assert type(translate(caught.value)) is ERRORS.get(state, errors.PgStreamError)
        if state.startswith("PS"):
            assert caught.value.diag.message_hint, (state, name, query)
    assert objects(t) == before
    assert t.execute("SELECT count(*) FROM t").fetchone() == (1,)


def test_failure_after_the_storage_is_made_leaves_nothing(t):
    t.execute("CREATE TABLE internal (a int, __pgs_a int)")
    before = objects(t)
    with refused("PS015", "__pgs_"):
        create(t, "s", "SELECT a FROM internal, t")
    assert objects(t) == before


def test_rollback_leaves_nothing(t):
    before = objects(t)
    with t.transaction(force_rollback=True):
        create(t, "s", "SELECT id FROM t")
    assert objects(t) == before


def test_position_of_an_error_in_the_query(t):
    with refused("42703") as caught:
        create(t, "s", "SELECT id,\n       nope\nFROM t")
    error = translate(caught.value)
    assert isinstance(error, errors.UnknownName)
    assert (error.line, error.column) == (2, 8)
    with refused("42601") as caught:
        t.execute("SELECT 1\nFRM t t")
    error = translate(caught.value, "SELECT 1\nFRM t t")
    assert isinstance(error, errors.SyntaxFault)
    assert (error.line, error.column) == (2, 5)


def test_cycle_path(t):
    create(t, "a", "SELECT id FROM t")
    create(t, "b", "SELECT id FROM a")
    create(t, "c", "SELECT b.id FROM b, t")
    path = "SELECT pgstream._cycle_path(%s::regclass, ARRAY[%s::regclass::oid])"
    assert t.execute(path, ("a", "c")).fetchone() == (
        "public.a -> public.c -> public.b -> public.a",
    )
    assert t.execute(path, ("a", "a")).fetchone() == ("public.a -> public.a",)
    assert t.execute(path, ("c", "a")).fetchone() == (None,)


def test_errors_name_path_and_dependents(t):
    create(t, "a", "SELECT id FROM t")
    create(t, "b", "SELECT id FROM a")
    create(t, "c", "SELECT id FROM a")
    with refused("PS010") as caught:
        t.execute("SELECT pgstream.drop_stream_table('a')")
    assert translate(caught.value).dependents == ("public.b", "public.c")
    with refused("PS008") as caught:
        create(t, "s", "SELECT id FROM s")
    assert translate(caught.value).path == ("public.s", "public.s")


def test_star_of_a_stream_table_leaves_its_row_id_out(t):
    create(t, "a", "SELECT id FROM t")
    create(t, "b", "SELECT * FROM a")
    columns = t.execute("SELECT * FROM b").description
    assert [column.name for column in columns] == ["id", "__pgs_row_id"]
    types = "SELECT source_type FROM pgstream.pgs_dependencies ORDER BY pgs_id"
    assert t.execute(types).fetchall() == [
        ("TABLE",), ("STREAM_TABLE",)]  # fmt: skip


def test_direct_changes_are_refused(database, t):
    create(t, "s", "SELECT id FROM t")
    for conn in (t, database.connect()):
        for statement in (
            "INSERT INTO s VALUES (1, 1)",
            "UPDATE s SET id = 1",
            "DELETE FROM s",
            "TRUNCATE s",
        ):
            with refused(
                "PS019", "stream table public.s is maintained by pgstream; change its sources"
            ):
                conn.execute(statement)
    with t.transaction():
        t.execute("SET LOCAL pg_stream.applying = 'on'")
        t.execute("INSERT INTO s VALUES (1, 1)")
    assert t.execute("SELECT count(*) FROM s").fetchone() == (1,)


# --- rights -------------------------------------------------------------------------------------


def test_a_plain_role_creates_reads_and_shares(database, t, alice, bob):
    create(alice, "s", "SELECT id FROM t")
    assert stream_table(alice, "s", "owner_role") == (ALICE,)
    assert alice.execute("SELECT id FROM s").fetchall() == []
    with refused("42501"):
        alice.execute("INSERT INTO s VALUES (1, 1)")
    with refused("42501"):
        bob.execute("SELECT id FROM s")
    alice.execute(f"GRANT SELECT ON s TO {BOB}")
    assert bob.execute("SELECT id FROM s").fetchall() == []
    alice.execute("SELECT pgstream.alter_stream_table('s', '5m')")
    alice.execute("SELECT pgstream.drop_stream_table('s')")
    assert alice.execute("SELECT to_regclass('s')").fetchone() == (None,)


def test_nobody_writes_the_catalog(t, bob):
    create(t, "s", "SELECT id FROM t")
    assert bob.execute("SELECT name FROM pgstream.pgs_status()").fetchall() == [("public.s",)]
    assert bob.execute("SELECT count(*) FROM pgstream.pg_stat_stream_tables").fetchone() == (1,)
    for statement in (
        "DELETE FROM pgstream.pgs_stream_tables",
        "UPDATE pgstream.pgs_stream_tables SET status = 'ERROR'",
        "INSERT INTO pgstream.pgs_migrations VALUES (99, 'x')",
        "SELECT pgstream._install_capture('public.t'::regclass)",
        "SELECT pgstream._untrack(1)",
        "SELECT * FROM pgstream_changes.x",
        "CREATE TABLE pgstream.x (a int)",
    ):
        with refused("42501"):
            bob.execute(statement)


def test_rights_on_the_source_and_on_the_schema(database, t, alice, bob):
    before = objects(t)
    with refused("PS009", "schema public") as caught:
        create(bob, "s", "SELECT 1 AS a")
    assert isinstance(translate(caught.value), errors.PermissionDenied)
    t.execute("CREATE TABLE secret (a int, b int)")
    with refused("42501", "secret") as caught:
        create(alice, "s", "SELECT a FROM secret")
    assert isinstance(translate(caught.value), errors.PermissionDenied)
    t.execute(f"GRANT SELECT (a) ON secret TO {ALICE}")
    with refused("42501", "secret"):
        create(alice, "s", "SELECT a FROM secret WHERE b > 1")
    create(alice, "s", "SELECT a, count(*) AS n FROM secret GROUP BY a")
    alice.execute("SELECT pgstream.drop_stream_table('s')")
    t.execute("DROP TABLE secret")
    assert objects(t) == before


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("SELECT a FROM secret", "table public.secret"),
        ("SELECT count(*) AS n FROM secret", "table public.secret"),
        ("SELECT b FROM partly", "table public.partly"),
        ("SELECT partly::text AS x FROM partly", "table public.partly"),
        ("SELECT pg_read_file('/etc/hosts') AS x", "function pg_read_file"),
    ],
)
def test_register_checks_rights_itself(t, alice, query, says):
    """A caller may call the private function with a view that he could never read."""
    t.execute("CREATE TABLE secret (a int)")
    t.execute("CREATE TABLE partly (a int, b int)")
    t.execute(f"GRANT SELECT (a) ON partly TO {ALICE}")
    alice.execute(f"CREATE TEMP VIEW v AS {query}")
    with refused("PS009", f"permission denied for {says}"):
        alice.execute(
            "SELECT pgstream._register('pg_temp.v'::regclass, 's', 'x', '1m', 'FULL', true)"
        )


def test_register_takes_no_foreign_view(t, alice):
    t.execute("CREATE VIEW w AS SELECT id FROM t")
    with refused("PS009"):
        alice.execute("SELECT pgstream._register('w'::regclass, 's', 'x', '1m', 'FULL', true)")


def test_private_functions_do_not_believe_the_name_of_the_caller(t, alice):
    create(t, "s", "SELECT id FROM t")
    for call in (
        f"_drop('{OWNER}', 's')",
        f"_alter('{OWNER}', 's', '5m', NULL, NULL)",
        "drop_stream_table('s')",
        "alter_stream_table('s', '5m')",
        "refresh_stream_table('s')",
        "_drop('nobody', 's')",
    ):
        with refused("PS009", "must be owner"):
            alice.execute(f"SELECT pgstream.{call}")


def test_the_installing_role_and_superusers_manage_all(database, t, alice):
    for admin in (t, database.connect()):
        create(alice, "s", "SELECT id FROM t")
        admin.execute("SELECT pgstream.alter_stream_table('s', '5m')")
        admin.execute("SELECT pgstream.drop_stream_table('s')")


def test_superuser_acting_as_another(database, t):
    admin = database.connect()
    admin.execute(f"SET ROLE {ALICE}")
    create(admin, "s", "SELECT id FROM t")
    assert stream_table(admin, "s", "owner_role") == (ALICE,)


def test_rights_that_the_installing_role_lacks(database, owner):
    admin = database.connect()
    admin.execute("CREATE SCHEMA far")
    admin.execute("CREATE TABLE far.x (a int)")
    for name, grant in (
        ("s", f"GRANT USAGE ON SCHEMA far TO {OWNER}"),
        ("s", f"GRANT SELECT ON far.x TO {OWNER}"),
        ("s", f"GRANT TRIGGER ON far.x TO {OWNER}"),
        ("far.s", f"GRANT USAGE, CREATE ON SCHEMA far TO {OWNER}"),
    ):
        with refused("PS009", OWNER) as caught:
            create(admin, name, "SELECT a FROM far.x")
        assert caught.value.diag.message_hint == grant
        admin.execute(grant)
    create(admin, "far.s", "SELECT a FROM far.x")


# --- alter and drop -----------------------------------------------------------------------------


def test_alter(t):
    create(t, "s", "SELECT id FROM t")
    t.execute(
        "UPDATE pgstream.pgs_stream_tables SET status = 'ACTIVE', frontier = '{}',"
        " consecutive_errors = 2, last_error = 'x'"
    )
    t.execute("SELECT pgstream.alter_stream_table('s', schedule => '@daily')")
    assert stream_table(t, "s", "schedule, refresh_mode, status, frontier") == (
        "@daily", "DIFFERENTIAL", "ACTIVE", {})  # fmt: skip
    t.execute(
        "SELECT pgstream.alter_stream_table('s', schedule => 'CALCULATED', status => 'suspended')"
    )
    assert stream_table(t, "s", "schedule, status, consecutive_errors") == (None, "SUSPENDED", 2)
    t.execute("SELECT pgstream.alter_stream_table('s', status => 'ACTIVE')")
    assert stream_table(t, "s", "status, consecutive_errors, last_error") == ("ACTIVE", 0, None)
    assert stream_table(t, "s", "updated_at > created_at") == (True,)


def test_alter_refusals(t):
    create(t, "s", "SELECT id FROM t")
    for state, arguments in (
        ("PS011", "'nope'"),
        ("PS003", "'s', schedule => 'x'"),
        ("PS004", "'s', refresh_mode => 'x'"),
        ("PS017", "'s', status => 'ERROR'"),
        ("PS017", "'s', status => ''"),
    ):
        with refused(state):
            t.execute(f"SELECT pgstream.alter_stream_table({arguments})")


def test_alter_mode_starts_and_stops_capture(t):
    create(t, "s", "SELECT id FROM t")
    create(t, "s2", "SELECT v FROM t")
    tracked = "SELECT tracked_by_pgs_ids FROM pgstream.pgs_change_tracking"
    frontier = "UPDATE pgstream.pgs_stream_tables SET frontier = '{}'"
    t.execute(frontier)
    t.execute("SELECT pgstream.alter_stream_table('s', refresh_mode => 'AUTO')")
    assert stream_table(t, "s", "refresh_mode, frontier") == ("AUTO", {})
    t.execute("SELECT pgstream.alter_stream_table('s', refresh_mode => 'FULL')")
    assert stream_table(t, "s", "refresh_mode, frontier") == ("FULL", None)
    assert t.execute(tracked).fetchall() == [([2],)]
    t.execute("SELECT pgstream.alter_stream_table('s2', refresh_mode => 'FULL')")
    assert t.execute(tracked).fetchall() == []
    t.execute(frontier)
    t.execute("SELECT pgstream.alter_stream_table('s', refresh_mode => 'differential')")
    assert stream_table(t, "s", "refresh_mode, frontier") == ("DIFFERENTIAL", None)
    assert t.execute(tracked).fetchall() == [([1],)]


def test_drop_removes_all(t):
    before = objects(t)
    create(t, "a", "SELECT id FROM t")
    create(t, "b", "SELECT a.id FROM a, t")
    t.execute("CREATE TABLE pgstream_state.state_1 (x int)")
    t.execute(
        "INSERT INTO pgstream.pgs_refresh_history (pgs_id, action, status)"
        " VALUES (1, 'FULL', 'COMPLETED')"
    )
    with refused("PS010", r"public\.b"):
        t.execute("SELECT pgstream.drop_stream_table('a')")
    t.execute("SELECT pgstream.drop_stream_table('public.b')")
    t.execute("CREATE VIEW on_top AS SELECT id FROM a")
    t.execute("SELECT pgstream.drop_stream_table('a')")
    assert objects(t) == before
    assert t.execute("SELECT count(*) FROM pgstream.pgs_refresh_history").fetchone() == (0,)


def test_drop_after_source_and_storage_are_gone(t):
    before = [
        o for o in objects(t) if o[2] not in ("t", "t_pkey") and not o[2].startswith("pg_toast")
    ]
    create(t, "s", "SELECT id FROM t")
    t.execute("DROP TABLE t, s")
    t.execute("SELECT pgstream.drop_stream_table('s')")
    after = [o for o in objects(t) if not o[2].startswith("pg_toast")]
    assert after == before


def test_drop_waits_for_a_running_refresh(database, t):
    create(t, "s", "SELECT id FROM t")
    worker = database.connect(OWNER)
    with worker.transaction():
        worker.execute("SELECT pg_advisory_xact_lock(%s, 1)", (REFRESH,))
        t.execute("SET lock_timeout = '200ms'")
        with refused("55P03"):
            t.execute("SELECT pgstream.drop_stream_table('s')")
    t.execute("SELECT pgstream.drop_stream_table('s')")


def test_drop_waits_for_a_reader_being_created(database, t):
    create(t, "a", "SELECT id FROM t")
    other = database.connect(OWNER, autocommit=False)
    create(other, "b", "SELECT id FROM a")
    outcome = []

    def drop():
        try:
            t.execute("SELECT pgstream.drop_stream_table('a')")
        except psycopg.Error as error:
            outcome.append(error.sqlstate)

    thread = threading.Thread(target=drop)
    thread.start()
    time.sleep(0.3)
    assert outcome == []
    other.commit()
    thread.join(10)
    assert outcome == ["PS010"]


def test_two_sessions_create_on_one_source(database, t):
    """The second waits for the first, and both are tracked."""
    first = database.connect(OWNER, autocommit=False)
    second = database.connect(OWNER)
    create(first, "a", "SELECT id FROM t")
    thread = threading.Thread(target=create, args=(second, "b", "SELECT id FROM t"))
    thread.start()
    time.sleep(0.3)
    first.commit()
    thread.join(10)
    rows = t.execute("SELECT tracked_by_pgs_ids FROM pgstream.pgs_change_tracking").fetchall()
    assert [sorted(ids) for (ids,) in rows] == [[1, 2]]


# --- refresh and wait ---------------------------------------------------------------------------


class Worker:
    """Plays the worker's side of the protocol: sees a request, writes history.

    It gives its answers one by one, and the last one again and again: it cannot tell whether a
    request that it has answered is still there or a new one.
    """

    def __init__(self, database, answers, *, populate=False):
        self.conn = database.connect(OWNER)
        self.answers = list(answers)
        self.populate = populate
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.conn.execute("SELECT pg_advisory_lock_shared(%s, 0)", (WORKER,))
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()
        self.conn.close()

    def request(self):
        return self.conn.execute(
            "SELECT objid::int8 FROM pg_locks WHERE locktype = 'advisory' AND granted"
            " AND classid = %s::int8::oid AND objsubid = 2 AND database ="
            " (SELECT oid FROM pg_database WHERE datname = current_database())",
            (REQUEST,),
        ).fetchone()

    def run(self):
        while not self.stop.wait(0.02):
            request = self.request()
            if self.populate:
                self.conn.execute("UPDATE pgstream.pgs_stream_tables SET is_populated = true")
            if request and self.answers:
                answer = self.answers.pop(0) if self.answers[1:] else self.answers[0]
                if answer == "VANISH":
                    self.conn.close()
                    return
                self.conn.execute(
                    "INSERT INTO pgstream.pgs_refresh_history"
                    " (pgs_id, action, status, error_message) VALUES (%s, 'FULL', %s, 'boom')",
                    (request[0], answer),
                )


def requests(conn: psycopg.Connection) -> int:
    query = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = %s::int8::oid"
    return conn.execute(query, (REQUEST,)).fetchone()[0]


@pytest.fixture
def s(t):
    create(t, "s", "SELECT id FROM t")
    # An old answer is not an answer.
    t.execute(
        "INSERT INTO pgstream.pgs_refresh_history (pgs_id, action, status)"
        " VALUES (1, 'FULL', 'COMPLETED')"
    )
    return t


REFRESH_S = "SELECT pgstream.refresh_stream_table('s')"
WAIT_S = "SELECT pgstream.wait_for_stream_table('s', '300 milliseconds')"


def test_refresh_without_worker_fails_at_once(s):
    began = time.monotonic()
    with refused("PS013", "no pgstream worker") as caught:
        s.execute(REFRESH_S)
    assert time.monotonic() - began < 1
    assert "pgstream serve --dsn" in caught.value.diag.message_hint
    assert isinstance(translate(caught.value), errors.NoWorker)
    with refused("PS013"):
        s.execute(WAIT_S)


def test_refresh_returns_when_the_worker_is_done(database, s):
    with Worker(database, ["RUNNING", "SKIPPED", "COMPLETED"]):
        s.execute(REFRESH_S)
        assert requests(s) == 0
        with s.transaction():  # also inside a transaction that does other things
            s.execute("INSERT INTO t VALUES (1, 'a', 1)")
            s.execute(REFRESH_S)
    assert requests(s) == 0


def test_refresh_raises_the_error_of_the_worker(database, s):
    with Worker(database, ["FAILED"]), refused("PS016", "boom"):
        s.execute(REFRESH_S)
    assert requests(s) == 0


def test_refresh_notices_that_the_worker_vanishes(database, s):
    with Worker(database, ["VANISH"]), refused("PS013"):
        s.execute(REFRESH_S)
    assert requests(s) == 0


def test_cancelled_refresh_withdraws_the_request(database, s):
    s.execute("SET statement_timeout = '300ms'")
    with Worker(database, []), refused("57014"):
        s.execute(REFRESH_S)
    assert requests(s) == 0


def test_refresh_of_a_table_that_is_dropped_meanwhile(database, s):
    other = database.connect(OWNER)
    timer = threading.Timer(0.3, other.execute, ("SELECT pgstream.drop_stream_table('s')",))
    with Worker(database, []):
        timer.start()
        with refused("PS011"):
            s.execute(REFRESH_S)
        timer.join()


def test_refresh_refusals(database, s):
    with refused("PS011"):
        s.execute("SELECT pgstream.refresh_stream_table('nope')")
    with Worker(database, []):
        with refused("PS020", "repeatable read"), s.transaction():
            s.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            s.execute(REFRESH_S)
        for savepoint in (False, True):
            with refused("PS020", "commit first"), s.transaction():
                if savepoint:
                    with s.transaction():
                        create(s, "s3", "SELECT id FROM t")
                else:
                    create(s, "s3", "SELECT id FROM t")
                s.execute("SELECT pgstream.refresh_stream_table('s3')")
        with refused("PS020", "commit first"), s.transaction():
            s.execute("SELECT pgstream.alter_stream_table('s', '5m')")
            s.execute(WAIT_S)
        s.execute("SELECT pgstream.alter_stream_table('s', status => 'SUSPENDED')")
        for call in (REFRESH_S, WAIT_S):
            with refused("PS012", "suspended"):
                s.execute(call)


def test_wait(database, s):
    with Worker(database, []), refused("PS014", "not populated") as caught:
        s.execute(WAIT_S)
    assert isinstance(translate(caught.value), errors.WaitTimeout)
    s.execute("UPDATE pgstream.pgs_stream_tables SET last_error = 'no such function'")
    with refused("PS016", "no such function"):
        s.execute(WAIT_S)
    s.execute("UPDATE pgstream.pgs_stream_tables SET last_error = NULL")
    with Worker(database, [], populate=True):
        s.execute("SELECT pgstream.wait_for_stream_table('s')")
    s.execute(WAIT_S)  # populated: no worker is needed


# --- status -------------------------------------------------------------------------------------


def test_status_functions_and_views(t):
    create(t, "s", "SELECT id FROM t", "5m")
    create(t, "c", "SELECT id FROM t", "@daily")
    t.execute(
        "UPDATE pgstream.pgs_stream_tables SET data_timestamp = now() - interval '10 min',"
        " last_refresh_at = now(), is_populated = true,"
        """ explanation = '[{"property": "Sources", "value": "public.t"}]'"""
    )
    t.execute(
        "INSERT INTO pgstream.pgs_refresh_history"
        " (pgs_id, start_time, end_time, action, status, rows_inserted, rows_deleted,"
        " error_message)"
        " VALUES (1, now(), now() + interval '2 s', 'FULL', 'COMPLETED', 5, 0, NULL),"
        " (1, now(), now() + interval '4 s', 'DIFFERENTIAL', 'COMPLETED', 1, 2, NULL),"
        " (1, now(), NULL, 'SKIP', 'SKIPPED', NULL, NULL, NULL),"
        " (1, now(), now() + interval '9 s', 'DIFFERENTIAL', 'FAILED', NULL, NULL, 'boom')"
    )
    assert t.execute(
        "SELECT name, schedule, is_populated FROM pgstream.pgs_status()"
    ).fetchall() == [
        ("public.c", "@daily", True),
        ("public.s", "5m", True),
    ]
    stats = (
        "SELECT pgs_name, total_refreshes, successful_refreshes, failed_refreshes,"
        " total_rows_inserted, total_rows_deleted, avg_duration_ms, last_refresh_action,"
        " last_refresh_status, stale FROM {}  ORDER BY pgs_name"
    )
    expected = [
        ("c", 0, 0, 0, 0, 0, None, None, None, None),
        ("s", 3, 2, 1, 6, 2, 3000.0, "DIFFERENTIAL", "FAILED", True),
    ]
    assert t.execute(stats.format("pgstream.st_refresh_stats()")).fetchall() == expected
    assert t.execute(stats.format("pgstream.pg_stat_stream_tables")).fetchall() == expected
    assert t.execute("SELECT action, duration_ms, error_message"
                     " FROM pgstream.get_refresh_history('s', 2)").fetchall() == [
        ("DIFFERENTIAL", 9000.0, "boom"), ("SKIP", None, None)]  # fmt: skip
    assert 600 <= t.execute("SELECT pgstream.get_staleness('s')").fetchone()[0] < 700
    explained = t.execute("SELECT * FROM pgstream.explain_st('s')").fetchall()
    assert [p for p, _ in explained] == ["Defining Query", "Refresh Mode", "Status", "Sources"]
    assert t.execute(
        "SELECT pgs_name, stale FROM pgstream.stream_tables_info ORDER BY 1"
    ).fetchall() == [("c", None), ("s", True)]
    for call in ("get_staleness('x')", "explain_st('x')", "get_refresh_history('x')"):
        with refused("PS011"):
            t.execute(f"SELECT * FROM pgstream.{call}")


def test_not_found_hints_at_another_schema(database, t):
    database.connect().execute(f"CREATE SCHEMA far AUTHORIZATION {OWNER}")
    create(t, 'far."My S"', "SELECT id FROM t")
    with refused("PS011") as caught:
        t.execute("""SELECT pgstream.get_staleness('"My S"')""")
    assert caught.value.diag.message_hint == 'Did you mean far."My S"?'


def test_workers_are_woken(database, t):
    listener = database.connect(OWNER)
    listener.execute("LISTEN pgstream_wake")
    create(t, "s", "SELECT id FROM t")
    assert [n.channel for n in listener.notifies(timeout=5, stop_after=1)] == ["pgstream_wake"]


def test_every_code_of_the_sql_is_translated():
    import re

    from pgstream.database import sqlstates
    from pgstream.database.sql_functions import sql_files

    used = {code for f in sql_files() for code in re.findall(r"ERRCODE = '(\w+)'", f.text)}
    assert used == {code for code in ERRORS if code.startswith("PS")}
    assert used == set(re.findall(r"PS\d{3}", sqlstates.__doc__))
