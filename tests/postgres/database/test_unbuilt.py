"""A stream table that could not be built does not look like one that works."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from pgstream.catalog import store
from pgstream.database.connection import connect
from pgstream.database.sqlstates import translate
from pgstream.errors import NotPopulated

pytestmark = pytest.mark.postgres

READS = (
    "SELECT * FROM s",
    "SELECT count(*) FROM s",
    "SELECT t.id FROM t LEFT JOIN s USING (id)",
    "SELECT * FROM above",
    "EXPLAIN SELECT id FROM s",
    "CREATE TABLE other AS SELECT id FROM s",
    "SELECT pgstream.create_stream_table('on_top', 'SELECT id FROM s')",
)
NEVER = "stream table public.s was never populated: it could not be built"
MAINTENANCE = ("ANALYZE s", "VACUUM s", "VACUUM FULL s", "REINDEX TABLE s", "VACUUM ANALYZE")


@pytest.fixture
def s(owner: psycopg.Connection) -> psycopg.Connection:
    owner.execute("CREATE TABLE t (id int)")
    owner.execute("SELECT pgstream.create_stream_table('s', 'SELECT id FROM t')")
    owner.execute("CREATE VIEW above AS SELECT id FROM s")
    return owner


def seals(conn: psycopg.Connection) -> list[tuple]:
    return conn.execute("SELECT 1 FROM pg_class WHERE relname ~ 'never_populated'").fetchall()


def fail(conn: psycopg.Connection, *, permanent: bool = True) -> None:
    store.record_failure(conn, 1, "It cannot be.\nHint: Try something else.", 3, permanent)


def populate(conn: psycopg.Connection) -> None:
    table = store.stream_table(conn, "s")
    with conn.transaction():
        conn.execute("SET LOCAL pg_stream.applying = on")
        conn.execute("INSERT INTO public.s VALUES (1, 1)")
        assert store.advance(conn, table, {}, None)
    store.unseal(conn, [table])


@pytest.fixture
def ours(database: Any) -> psycopg.Connection:
    conn = connect(database.dsn_as("pgs_test_owner"))
    database.connections.callback(conn.close)
    return conn


@pytest.mark.parametrize("permanent", [True, False])
def test_reading_fails_and_tells_why(
    database: Any, s: psycopg.Connection, ours: psycopg.Connection, permanent: bool
) -> None:
    assert s.execute("SELECT * FROM s").fetchall() == []  # nobody has tried yet
    fail(ours, permanent=permanent)
    for conn in (s, database.connect()):  # a superuser, too
        for statement in READS:
            with pytest.raises(psycopg.Error) as caught:
                conn.execute(statement)
            error = translate(caught.value)
            assert isinstance(error, NotPopulated), statement
            assert error.message == NEVER
            assert error.detail == "It cannot be.\nHint: Try something else."
            assert error.hint is not None
            assert "drop_stream_table('public.s')" in error.hint


def test_maintenance_of_the_database_goes_on(
    s: psycopg.Connection, ours: psycopg.Connection
) -> None:
    fail(ours)
    for statement in MAINTENANCE:
        s.execute(statement)
    assert seals(s)


def test_once_built_it_is_read(
    database: Any, s: psycopg.Connection, ours: psycopg.Connection
) -> None:
    fail(ours)
    with pytest.raises(psycopg.Error, match="never populated"):
        s.execute("SELECT id FROM s")
    populate(ours)
    for conn in (s, database.connect()):
        assert conn.execute("SELECT id FROM s").fetchall() == [(1,)]
    assert seals(s) == []
    fail(ours)  # a later failure leaves the old result
    assert s.execute("SELECT id FROM s").fetchall() == [(1,)]
    assert seals(s) == []


def test_a_second_attempt_that_fails_is_told_to_every_session(
    s: psycopg.Connection, ours: psycopg.Connection
) -> None:
    fail(ours)
    s.execute("SELECT pgstream.alter_stream_table('s', status => 'ACTIVE')")
    assert s.execute("SELECT id FROM s").fetchall() == []
    fail(ours)
    with pytest.raises(psycopg.Error, match="never populated"):
        s.execute("SELECT id FROM s")


def test_without_initialize_it_is_empty_until_a_refresh_fails(
    owner: psycopg.Connection, ours: psycopg.Connection
) -> None:
    owner.execute("CREATE TABLE t (id int)")
    owner.execute("SELECT pgstream.create_stream_table('s', 'TABLE t', initialize => false)")
    assert owner.execute("SELECT id FROM s").fetchall() == []
    fail(ours)
    with pytest.raises(psycopg.Error, match="never populated"):
        owner.execute("SELECT id FROM s")
    owner.execute("SELECT pgstream.drop_stream_table('s')")
    assert seals(owner) == []


def test_status_tells_why(s: psycopg.Connection, ours: psycopg.Connection) -> None:
    fail(ours)
    for query in (
        "SELECT status, is_populated, last_error FROM pgstream.pgs_status()",
        "SELECT status, is_populated, last_error FROM pgstream.stream_tables_info",
        "SELECT status, is_populated, last_error FROM pgstream.pg_stat_stream_tables",
    ):
        ((status, is_populated, why),) = s.execute(query).fetchall()
        assert (status, is_populated) == ("ERROR", False)
        assert why.startswith("It cannot be.")


def test_create_tells_how_to_wait(owner: psycopg.Connection) -> None:
    notices: list[tuple[str | None, ...]] = []
    owner.add_notice_handler(lambda d: notices.append((d.message_primary, d.message_hint)))
    owner.execute("SELECT pgstream.create_stream_table('s', 'SELECT 1 AS a')")
    ((message, hint),) = notices
    assert message is not None
    assert message.startswith("stream table public.s is empty until a worker has built it")
    assert hint is not None
    assert "SELECT pgstream.wait_for_stream_table('public.s')" in hint
    assert "pgstream serve" in hint
