"""DDL on what a stream table reads: writes go on, and it ends exact or in ERROR with its reason."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

import pytest

from helpers import script
from pgstream.catalog.records import Action, RefreshResult, Status
from pgstream.client import PgStream
from pgstream.errors import CaptureLost, SourceChanged

SETUP = (
    "CREATE TYPE mood AS ENUM ('sad', 'glad')",
    "CREATE DOMAIN small AS int",
    "CREATE FUNCTION twice(x int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT x * 2'",
    "CREATE TABLE t (id int, a int, b text, m mood DEFAULT 'sad', s small DEFAULT 1,"
    " g int GENERATED ALWAYS AS (id + 1) STORED)",
    "CREATE TABLE u (id int, a int)",
    "CREATE VIEW v AS SELECT id, a FROM u WHERE id > 0",
    "CREATE TABLE p (id int, a int, b text) PARTITION BY LIST (id)",
    "CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1, 2, 3)",
    "CREATE TABLE p2 PARTITION OF p FOR VALUES IN (4, 5, 6)",
    "CREATE TABLE loose (id int, a int, b text)",
    "INSERT INTO loose VALUES (7, 70, 'x')",
    "CREATE TABLE h (id int, a int, b text)",
    "CREATE TABLE h1 (more int) INHERITS (h)",
    "INSERT INTO u VALUES (1, 5), (9, 9)",
    *(
        f"INSERT INTO {table} (id, a, b) VALUES (1, 10, 'x'), (2, NULL, 'y'), (4, 40, NULL)"
        for table in ("t", "p", "h")
    ),
    "INSERT INTO h1 VALUES (5, 50, 'z', 1)",
)
WRITES = (
    "INSERT INTO {} (id) VALUES (3), (3)",
    "UPDATE {} SET id = 5 WHERE id = 4",
    "DELETE FROM {} WHERE id = 2",
)
MORE = ("INSERT INTO {} (id) VALUES (1)", "UPDATE {} SET id = 6 WHERE id = 5")
MODES = "SELECT DISTINCT cdc_mode FROM pgstream.pgs_dependencies WHERE source_type = 'TABLE'"
NOTHING, AGAIN = Action.DIFFERENTIAL, Action.REINITIALIZE


@dataclass(frozen=True)
class Case:
    """`query` reads `table`, `says` is part of the reason, or of the error's message if there is no
    action. Afterwards it is `now` that reads `table_now`."""

    ddl: str
    action: Action | None = NOTHING
    says: str = ""
    table: str = "t"
    query: str = "SELECT a, count(*) AS n FROM {} GROUP BY a"
    now: str | None = None
    table_now: str | None = None
    since: int = 150000

    @property
    def name(self) -> str:
        return f"{self.ddl} | {self.query}"


TYPES = "SELECT m, s, g, count(*) AS n FROM {} GROUP BY m, s, g"
CASES = [
    Case("ALTER TABLE t ADD COLUMN c int DEFAULT 7"),
    Case("ALTER TABLE t DROP COLUMN b"),
    Case("ALTER TABLE t RENAME b TO c"),
    Case("ALTER TABLE t ALTER b TYPE jsonb USING to_jsonb(b)"),
    Case("CREATE INDEX ON t (a); ALTER TABLE t ADD CHECK (id > 0); COMMENT ON TABLE t IS 'x'"),
    Case("ALTER TABLE t ALTER a TYPE bigint", AGAIN, "public.t: the type of column a has changed"),
    Case("ALTER TABLE t ALTER a TYPE numeric(9, 2) USING a / 4.0", AGAIN, "the type of column a"),
    Case(
        "ALTER TABLE t ALTER a TYPE text USING 'n' || a",
        AGAIN,
        "the type of column a",
        query="SELECT max(a) AS top, count(*) AS n FROM {}",
    ),
    Case("ALTER TABLE t DROP COLUMN a, ADD COLUMN a int", AGAIN, "dropped and created again"),
    Case("ALTER TABLE t RENAME a TO c", None, "the column a of public.t has been renamed"),
    Case("ALTER TABLE t DROP COLUMN a CASCADE", None, "the column a of public.t has been"),
    Case("ALTER TABLE t ENABLE ROW LEVEL SECURITY", None, "public.t has row security now"),
    Case("ALTER TABLE t RENAME TO other", table_now="other"),
    Case("CREATE SCHEMA far; ALTER TABLE t SET SCHEMA far", table_now="far.t"),
    Case(
        "ALTER TABLE t RENAME TO was; ALTER TABLE u RENAME TO t",
        query="SELECT t.id, t.a, u.a AS other FROM {} t JOIN u USING (id)",
        now="SELECT t.id, t.a, u.a AS other FROM was t JOIN t u USING (id)",
        table_now="was",
    ),
    Case(
        "CREATE OR REPLACE FUNCTION twice(x int) RETURNS int LANGUAGE sql IMMUTABLE"
        " AS 'SELECT x * 3'",
        AGAIN,
        "function public.twice(integer) has changed",
        query="SELECT id, twice(a) AS x FROM {}",
    ),
    Case(
        "DROP FUNCTION twice",
        None,
        "the function public.twice(integer) has been dropped",
        query="SELECT id, twice(a) AS x FROM {}",
    ),
    Case(
        "CREATE OR REPLACE VIEW v AS SELECT id, a FROM u WHERE id > 1",
        AGAIN,
        "view public.v has changed",
        "u",
        "SELECT id, a FROM v",
    ),
    Case(
        "CREATE OR REPLACE VIEW v AS SELECT u.id, t.g + u.a AS a FROM u JOIN t USING (id)",
        AGAIN,
        "view public.v has changed",
        "u",
        "SELECT id, a FROM v",
    ),
    Case(
        "DROP VIEW v",
        None,
        "the view public.v has been dropped",
        table="u",
        query="SELECT id FROM v",
    ),
    Case("ALTER TYPE mood ADD VALUE 'mad'", AGAIN, "the type of column m", query=TYPES),
    Case("ALTER TYPE mood RENAME VALUE 'sad' TO 'bad'", AGAIN, "type of column m", query=TYPES),
    Case("ALTER DOMAIN small ADD CHECK (VALUE > 0)", AGAIN, "the type of column s", query=TYPES),
    Case(
        "ALTER TABLE t ALTER g SET EXPRESSION AS (id + 2)",
        AGAIN,
        "the expression",
        query=TYPES,
        since=170000,
    ),
    Case("ALTER TABLE t DISABLE TRIGGER ALL", AGAIN, "its capture was missing, disabled"),
    # --- partitions -----------------------------------------------------------------------------
    Case("CREATE TABLE p3 PARTITION OF p FOR VALUES IN (8)", table="p"),
    Case(
        "CREATE TABLE p3 PARTITION OF p FOR VALUES IN (8); INSERT INTO p3 VALUES (8, 8, 'x')",
        AGAIN,
        "public.p: partitions or children came or went",
        table="p",
    ),
    Case(
        "ALTER TABLE p ATTACH PARTITION loose FOR VALUES IN (7)",
        AGAIN,
        "partitions or children",
        table="p",
    ),
    Case(
        "ALTER TABLE p DETACH PARTITION p1; CREATE TABLE p3 PARTITION OF p DEFAULT",
        AGAIN,
        "partitions or children",
        table="p",
    ),
    Case(
        "DROP TABLE p1; CREATE TABLE p3 PARTITION OF p DEFAULT",
        AGAIN,
        "partitions or children",
        table="p",
    ),
    Case("TRUNCATE p1", Action.FULL, "TRUNCATE on public.p", table="p"),
    Case("ALTER TABLE p DROP COLUMN b", table="p"),
    Case("ALTER TABLE p ALTER a TYPE bigint", AGAIN, "the type of column a", table="p"),
    Case("ALTER TABLE p RENAME TO other", table="p", table_now="other"),
    # --- inheritance ----------------------------------------------------------------------------
    Case("UPDATE h1 SET a = 51; INSERT INTO h1 VALUES (8, 8, 'x', 1)", table="h"),
    Case("CREATE TABLE h2 () INHERITS (h)", table="h"),
    Case(
        "CREATE TABLE h2 () INHERITS (h); INSERT INTO h2 VALUES (8, 8)",
        AGAIN,
        "partitions or children",
        table="h",
    ),
    Case("ALTER TABLE loose INHERIT h", AGAIN, "partitions or children", table="h"),
    Case("ALTER TABLE h1 NO INHERIT h", AGAIN, "partitions or children", table="h"),
    Case("DROP TABLE h1", AGAIN, "partitions or children", table="h"),
    Case("TRUNCATE h1", Action.FULL, "TRUNCATE on public.h", table="h"),
]


def assert_same(ps: PgStream, query: str) -> None:
    columns = ", ".join(f'"{name}"' for name in ps.table("st").columns)
    stored, answer = (f"SELECT {columns} FROM ({side}) q" for side in ("TABLE st", query))
    assert ps.execute(f"({answer}) EXCEPT ALL ({stored})") == []
    assert ps.execute(f"({stored}) EXCEPT ALL ({answer})") == []


def require_version(ps: PgStream, number: int) -> None:
    if ps.connection.info.server_version < number:
        pytest.skip(f"since PostgreSQL {number // 10000}")


def write(ps: PgStream, statements: tuple[str, ...], table: str) -> None:
    script(ps, *(statement.format(table) for statement in statements))


@pytest.fixture
def base(ps: PgStream) -> PgStream:
    script(ps, *SETUP)
    return ps


@pytest.mark.usual_way
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_ddl(base: PgStream, case: Case) -> None:
    ps, table = base, case.table_now or case.table
    require_version(ps, case.since)
    ps.create_stream_table("st", case.query.format(case.table))
    write(ps, WRITES[:1], case.table)  # pending when the DDL comes
    ps.execute(case.ddl)
    if not case.ddl.startswith("CREATE TABLE p3 PARTITION OF p FOR VALUES IN (8)"):
        write(ps, WRITES[1:], table)
    if case.action is None:
        assert_broken(ps, case.says)
        write(ps, MORE, table)
        return
    result = ps.refresh_stream_table("st")
    assert_action(result, case)
    query = (case.now or case.query).format(table)
    assert_same(ps, query)
    write(ps, MORE, table)
    assert ps.refresh_stream_table("st").action in (NOTHING, Action.NO_DATA)
    assert_same(ps, query)


@pytest.mark.usual_way
@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.table in ("t", "u") and case.query != Case.query],
    ids=lambda case: case.name,
)
def test_ddl_while_the_wal_is_read(base: PgStream, case: Case) -> None:
    """The same end, maybe by a full refresh more. tests/postgres/capture/test_every_ddl.py has all
    kinds of DDL on a table."""
    ps, table = base, case.table_now or case.table
    if case.query == TYPES or "t.g" in case.ddl:  # a generated column, published since 18
        require_version(ps, 180000)
    elif ps.connection.info.server_version < 180000:
        ps.execute("ALTER TABLE t DROP COLUMN g")
    script(ps, *(f"ALTER TABLE {name} REPLICA IDENTITY FULL" for name in ("t", "u")))
    ps.refresher.settings = replace(ps.refresher.settings, cdc_mode="auto")
    ps.create_stream_table("st", case.query.format(case.table))
    ps.refresh_stream_table("st")
    if case.query != TYPES:  # their texts depend on more than the row
        assert ps.execute(MODES) == [("WAL",)]
    write(ps, WRITES[:1], case.table)
    ps.execute(case.ddl)
    write(ps, WRITES[1:], table)
    if case.action is None:
        assert_broken(ps, case.says)
        write(ps, MORE, table)
        return
    for statements in ((), MORE):
        write(ps, statements, table)
        with suppress(CaptureLost):  # then triggers take over, and the next refresh is full
            ps.refresh_stream_table("st")
        ps.refresh_stream_table("st")
        assert_same(ps, (case.now or case.query).format(table))


def assert_action(result: RefreshResult, case: Case) -> None:
    followed = case.table_now and result.reason == "what is stored is of another plan"
    assert result.action is case.action or followed, result
    assert case.says in result.reason


def assert_broken(ps: PgStream, says: str) -> None:
    with pytest.raises(SourceChanged) as raised:
        ps.refresh_stream_table("st")
    assert says in raised.value.message
    assert raised.value.hint
    table = ps.table("st")
    assert table.status is Status.ERROR
    assert table.last_error is not None
    assert says in table.last_error


def test_a_dropped_table(base: PgStream) -> None:
    base.create_stream_table("st", "SELECT id FROM loose")
    base.execute("DROP TABLE loose")
    assert_broken(base, "the table public.loose has been dropped")
    base.drop_stream_table("st")


def test_a_column_that_comes_back(base: PgStream) -> None:
    """What was written meanwhile was not captured with it. Others go on as if nothing were."""
    query = "SELECT id, a FROM t"
    base.create_stream_table("st", query)
    base.create_stream_table("others", "SELECT id, b FROM t")
    base.execute("ALTER TABLE t RENAME a TO c")
    assert_broken(base, "the column a of public.t has been renamed or dropped")
    base.refresh_stream_table("others")
    base.execute("INSERT INTO t (id, c) VALUES (8, 80)")
    assert base.refresh_stream_table("others").action is NOTHING
    base.execute("ALTER TABLE t RENAME c TO a")
    assert base.refresh_stream_table("st").action is AGAIN
    assert_same(base, query)
    base.execute("INSERT INTO t (id, a) VALUES (9, 90)")
    assert base.refresh_stream_table("st").action is NOTHING
    assert_same(base, query)
    assert base.table("st").status is Status.ACTIVE


def test_readers_of_a_stream_table_follow(base: PgStream) -> None:
    base.create_stream_table("low", "SELECT id, a FROM t")
    base.create_stream_table("st", "SELECT id, max(a) AS top FROM low GROUP BY id")
    base.execute("ALTER TABLE t ALTER a TYPE numeric USING a + 0.5")
    base.execute("INSERT INTO t (id, a) VALUES (1, 99.25)")
    base.refresh_stream_table("st")
    assert_same(base, "SELECT id, max(a) AS top FROM t GROUP BY id")
    base.execute("INSERT INTO t (id, a) VALUES (1, 100.75)")
    assert base.refresh_stream_table("st").action is NOTHING
    assert_same(base, "SELECT id, max(a) AS top FROM t GROUP BY id")
