"""Stream tables that have nothing to do: found in one question, and never wrongly."""

from __future__ import annotations

import psycopg
import pytest

from helpers import create_exact, refresh_exact, script
from pgstream.catalog.records import Action, Initiator
from pgstream.client import PgStream
from pgstream.refresh.idle import idle, note_idle
from pgstream.settings import Settings


@pytest.fixture
def graph(ps: PgStream) -> PgStream:
    """top reads low and u, low reads t; other reads v."""
    script(
        ps,
        "CREATE TABLE t (id int PRIMARY KEY, g int, x int)",
        "CREATE TABLE u (g int PRIMARY KEY, name text)",
        "CREATE TABLE v (id int)",
        "INSERT INTO t SELECT i, i % 3, i FROM generate_series(1, 9) i",
        "INSERT INTO u VALUES (0, 'a'), (1, 'b'), (2, 'c')",
    )
    create_exact(ps, "low", "SELECT g, sum(x) AS total FROM t GROUP BY g")
    create_exact(ps, "top", "SELECT u.name, low.total FROM low JOIN u ON u.g = low.g")
    create_exact(ps, "other", "SELECT id FROM v")
    assert ps.refresh_stream_table("top").action is Action.NO_DATA  # moves on from the population
    return ps


def idle_names(ps: PgStream, *names: str, settings: Settings | None = None) -> set[str]:
    tables = {each: ps.table(each) for each in ("low", "top", "other")}
    found = idle(ps.own, [tables[each] for each in names], settings or ps.settings)
    assert not ps.own.info.transaction_status  # nothing is left open
    return {name for name, table in tables.items() if table.id in found}


def test_a_table_is_idle_with_all_that_it_reads(graph: PgStream) -> None:
    assert idle_names(graph, "top", "other") == {"low", "top", "other"}
    assert idle_names(graph, "low") == {"low"}
    graph.execute("UPDATE t SET x = 0 WHERE id = 1")
    assert idle_names(graph, "top", "low", "other") == {"other"}
    assert refresh_exact(graph, "top").action is Action.DIFFERENTIAL
    assert idle_names(graph, "top") == {"low", "top"}


def test_what_commits_late_is_not_lost(graph: PgStream) -> None:
    """The frontier does not move; a transaction that was running when it was taken is new."""
    with psycopg.connect(graph.dsn) as writer:
        writer.execute("INSERT INTO t VALUES (100, 0, 5)")
        for _ in range(3):
            assert graph.refresh_stream_table("top").action is Action.NO_DATA
        graph.execute("INSERT INTO v VALUES (1)")  # a later transaction, seen before
        assert refresh_exact(graph, "other").changes_read == 1
        assert refresh_exact(graph, "other").action is Action.NO_DATA
        graph.execute("INSERT INTO t VALUES (101, 1, 7)")
        refresh_exact(graph, "top", "low")
        assert refresh_exact(graph, "top").action is Action.NO_DATA
        writer.commit()
    assert idle_names(graph, "top") == set()
    assert refresh_exact(graph, "top", "low").action is Action.DIFFERENTIAL


CHANGES = (
    "ALTER TABLE t ALTER x TYPE bigint",
    "ALTER TABLE t RENAME TO t2",
    "CREATE TABLE child () INHERITS (t)",
    "ALTER TABLE t DISABLE TRIGGER ALL",
    "ALTER TABLE t ENABLE ROW LEVEL SECURITY",
    "TRUNCATE t",
    "UPDATE t SET x = x + 1 WHERE id = 1",
    "SELECT pgstream.alter_stream_table('low', refresh_mode => 'FULL')",
    "SELECT pgstream.alter_stream_table('low', status => 'SUSPENDED')",
    "UPDATE pgstream.pgs_stream_tables SET needs_reinit = true WHERE pgs_name = 'low'",
    "UPDATE pgstream.pgs_stream_tables SET last_error = 'no' WHERE pgs_name = 'low'",
    "UPDATE pgstream.pgs_stream_tables SET frontier = NULL WHERE pgs_name = 'low'",
    'UPDATE pgstream.pgs_stream_tables SET objects_used = \'{"function public.f()": "1"}\''
    " WHERE pgs_name = 'low'",
    "DELETE FROM pgstream.pgs_canary",
    "INSERT INTO pgstream.pgs_capture_failures"
    " SELECT oid, pg_current_xact_id(), 'full', now() FROM pg_class WHERE relname = 't'",
    "INSERT INTO pgstream.pgs_refresh_history (pgs_id, action, status)"
    " SELECT pgs_id, 'NO_DATA', 'RUNNING' FROM pgstream.pgs_stream_tables WHERE pgs_name = 'low'",
)


def test_what_needs_a_refresh_is_not_idle(graph: PgStream) -> None:
    """Each is done and undone; PostgreSQL sees its own transaction's."""
    low = graph.table("low")
    for change in CHANGES:
        with graph.connection.transaction(force_rollback=True):
            assert idle(graph.connection, [low], graph.settings) == {low.id}
            graph.connection.execute(change.encode())
            assert idle(graph.connection, [low], graph.settings) == set(), change
    assert idle_names(graph, "low") == {"low"}


def test_settings_that_change_capture_need_a_refresh(graph: PgStream) -> None:
    assert idle_names(graph, "top", settings=Settings(capture_errors="mark")) == set()
    assert idle_names(graph, "top", settings=Settings(cdc_mode="wal")) == set()
    # The server's wal_level keeps it from being captured so.
    assert idle_names(graph, "top", settings=Settings(cdc_mode="auto")) == {"low", "top"}


def test_what_is_noted(graph: PgStream) -> None:
    before = {name: graph.table(name) for name in ("low", "top", "other")}
    graph.execute("INSERT INTO v VALUES (1)")
    noted = note_idle(graph.own, [each.id for each in before.values()], graph.settings)
    assert list(noted.values()) == ["public.low", "public.top"]
    for name in ("low", "top"):
        after = graph.table(name)
        assert after.frontier == before[name].frontier
        assert after.data_timestamp > before[name].data_timestamp
        newest = graph.history(name, 1)[0]
        assert (newest["action"], newest["status"]) == ("NO_DATA", "COMPLETED")
        assert newest["initiated_by"] == Initiator.SCHEDULER
        assert newest["data_timestamp"] == after.data_timestamp
    assert graph.table("other").data_timestamp == before["other"].data_timestamp


def test_a_locked_table_is_left_alone(graph: PgStream) -> None:
    """Its refresh is about to commit; nobody waits for it."""
    low, top = graph.table("low"), graph.table("top")
    with psycopg.connect(graph.dsn) as other:
        other.execute("SELECT FROM pgstream.pgs_stream_tables WHERE pgs_id = %s FOR UPDATE",
                      (low.id,))  # fmt: skip
        assert set(note_idle(graph.own, [top.id], graph.settings)) == {top.id}
    with psycopg.connect(graph.dsn) as other:
        other.execute(f"LOCK TABLE pgstream_changes.changes_{low.dependencies[0].relid}")
        assert note_idle(graph.own, [low.id], graph.settings) == {}


def test_a_table_at_rest_is_read_as_it_is(graph: PgStream) -> None:
    graph.alter_stream_table("low", status="SUSPENDED")
    graph.execute("INSERT INTO t VALUES (100, 0, 5)")
    assert idle_names(graph, "top") == {"top"}
    graph.execute("UPDATE u SET name = 'z' WHERE g = 0")
    assert idle_names(graph, "top") == set()
    assert graph.refresh_stream_table("top").upstream == ()
    graph.alter_stream_table("low", status="ACTIVE")
    refresh_exact(graph, "top", "low")


def test_rows_that_all_have_seen_are_deleted_in_the_end(graph: PgStream) -> None:
    """A transaction that ran during the last refresh kept them; none is left when it is over."""
    (source,) = graph.table("other").dependencies
    with psycopg.connect(graph.dsn) as writer:
        writer.execute("INSERT INTO t VALUES (100, 0, 5)")
        graph.execute("INSERT INTO v VALUES (1)")
        refresh_exact(graph, "other")
        assert graph.execute(f"SELECT 1 FROM pgstream_changes.changes_{source.relid}") != []
        assert idle_names(graph, "other") == {"other"}
    assert refresh_exact(graph, "other").action is Action.NO_DATA
    assert graph.execute(f"SELECT 1 FROM pgstream_changes.changes_{source.relid}") == []
    assert idle_names(graph, "other") == {"other"}
