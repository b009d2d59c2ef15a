"""Stream tables that read stream tables: one snapshot, upstream first, one transaction."""

from __future__ import annotations

import re
import threading

import psycopg
import pytest

from helpers import assert_exact, create_exact, refresh_exact, rows, script
from pgstream.catalog.records import Action
from pgstream.client import PgStream
from pgstream.errors import PgStreamError


@pytest.fixture
def base(ps: PgStream) -> PgStream:
    script(
        ps,
        "CREATE TABLE t (id int PRIMARY KEY, g int, x int)",
        "INSERT INTO t SELECT i, i % 5, i FROM generate_series(1, 50) i",
    )
    return ps


@pytest.fixture
def chain(base: PgStream) -> PgStream:
    create_exact(base, "low", "SELECT id, g, x * 2 AS y FROM t WHERE x > 3")
    create_exact(base, "mid", "SELECT g, sum(y) AS total, count(*) AS n FROM low GROUP BY g")
    create_exact(
        base, "top", "SELECT n, count(*) AS groups, max(total) AS high FROM mid GROUP BY n"
    )
    return base


@pytest.fixture
def diamond(base: PgStream) -> PgStream:
    create_exact(base, "sums", "SELECT g, sum(x) AS total FROM t GROUP BY g")
    create_exact(base, "counts", "SELECT g, count(*) AS n FROM t GROUP BY g")
    create_exact(
        base,
        "both",
        "SELECT s.g, s.total, c.n FROM sums s JOIN counts c ON s.g = c.g",
    )
    return base


CHANGES = (
    "UPDATE t SET x = x + 1 WHERE g = 1",
    "DELETE FROM t WHERE g = 2",
    "INSERT INTO t VALUES (100, 2, 7), (101, NULL, 8), (102, 9, NULL)",
    "UPDATE t SET g = g + 1",
    "DELETE FROM t",
    "INSERT INTO t VALUES (1, 1, 10)",
)


def test_chain(chain: PgStream) -> None:
    for change in CHANGES:
        chain.execute(change)
        result = refresh_exact(chain, "top", "mid", "low")
        assert [each.name for each in result.upstream] == ["public.low", "public.mid"]
        assert {each.action for each in (*result.upstream, result)} <= {
            Action.DIFFERENTIAL,
            Action.NO_DATA,
        }


def test_diamond(diamond: PgStream) -> None:
    for change in CHANGES:
        diamond.execute(change)
        refresh_exact(diamond, "both", "sums", "counts")


def test_diamond_of_a_base_table_and_its_reader(base: PgStream) -> None:
    create_exact(base, "sums", "SELECT g, sum(x) AS total FROM t GROUP BY g")
    create_exact(base, "shares", "SELECT t.id, t.x, s.total FROM t JOIN sums s ON t.g = s.g")
    for change in CHANGES:
        base.execute(change)
        refresh_exact(base, "shares", "sums")


def test_self_join_of_a_stream_table(chain: PgStream) -> None:
    create_exact(
        chain, "pairs", "SELECT a.g, b.g AS other FROM mid a JOIN mid b ON a.n = b.n AND a.g < b.g"
    )
    for change in CHANGES:
        chain.execute(change)
        refresh_exact(chain, "pairs", "mid", "low")


def test_upstream_is_refreshed_alone_first(chain: PgStream) -> None:
    """What the upstream table committed waits in its buffer for the reader."""
    for change in CHANGES:
        chain.execute(change)
        refresh_exact(chain, "mid", "low")
    refresh_exact(chain, "top", "mid", "low")
    for first, second in (("low", "mid"), ("mid", "top")):
        chain.execute("UPDATE t SET x = coalesce(x, 0) + 5, g = 3")
        refresh_exact(chain, first)
        chain.execute("INSERT INTO t SELECT max(id) + 1, 3, 40 FROM t")
        refresh_exact(chain, second)
    refresh_exact(chain, "top", "mid", "low")


def test_committed_and_pending_changes_meet_in_a_diamond(diamond: PgStream) -> None:
    diamond.execute("UPDATE t SET x = x + 1, g = 1 WHERE id < 20")
    refresh_exact(diamond, "sums")
    diamond.execute("DELETE FROM t WHERE g = 1 AND id % 2 = 0")
    diamond.execute("INSERT INTO t VALUES (200, 77, 1)")
    refresh_exact(diamond, "both", "sums", "counts")
    diamond.execute("UPDATE t SET g = 78 WHERE id = 200")
    refresh_exact(diamond, "counts")
    refresh_exact(diamond, "sums")
    refresh_exact(diamond, "both", "sums", "counts")


def test_a_reader_never_sees_half_a_diamond(base: PgStream) -> None:
    """Both tables have the same sum at every moment, whoever looks and whenever."""
    create_exact(base, "one", "SELECT g, sum(x) AS total FROM t GROUP BY g")
    create_exact(base, "two", "SELECT id, x FROM t")
    create_exact(base, "both", "SELECT o.g, o.total, w.x FROM one o JOIN two w ON w.id = o.g")
    wrong: list[tuple[int, int]] = []
    looks = 0
    done = threading.Event()

    def look() -> None:
        nonlocal looks
        with psycopg.connect(base.dsn, autocommit=True) as reader:
            while not done.is_set():
                row = reader.execute(
                    "SELECT (SELECT sum(total) FROM one), (SELECT sum(x) FROM two)"
                ).fetchone()
                looks += 1
                if row is not None and row[0] != row[1]:
                    wrong.append((row[0], row[1]))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        for i in range(8):
            base.execute(f"UPDATE t SET x = x + {i + 1} WHERE id % 3 = 0")
            refresh_exact(base, "both", "one", "two")
    finally:
        done.set()
        watcher.join()
    assert not wrong
    assert looks > 8


def test_full_upstream_gives_downstream_a_delta(chain: PgStream) -> None:
    script(chain, "TRUNCATE t", "INSERT INTO t SELECT i, i % 3, i FROM generate_series(1, 30) i")
    result = refresh_exact(chain, "top", "mid", "low")
    low, mid = result.upstream
    assert low.action is Action.FULL
    assert low.reason == "TRUNCATE on public.t"
    assert mid.action is Action.DIFFERENTIAL
    assert result.action is Action.DIFFERENTIAL
    assert refresh_exact(chain, "top").action is Action.NO_DATA
    chain.execute("UPDATE t SET x = 0")
    result = refresh_exact(chain, "top", "mid", "low")
    assert result.upstream[0].action is Action.DIFFERENTIAL


def test_full_when_asked(chain: PgStream) -> None:
    chain.execute("UPDATE t SET x = x + 1 WHERE g = 1")
    result = refresh_exact(chain, "top", "mid", "low", full=True)
    assert result.action is Action.FULL
    assert result.reason == "asked for"
    assert refresh_exact(chain, "top", "mid", "low", full=True).rows_inserted == 0


def test_full_upstream_alone_then_downstream(chain: PgStream) -> None:
    chain.execute("DELETE FROM t WHERE g = 1")
    refresh_exact(chain, "low", full=True)
    chain.execute("UPDATE t SET x = x + 100 WHERE g = 2")
    refresh_exact(chain, "top", "mid", "low")


def test_truncate_of_an_empty_table_is_full_too(ps: PgStream) -> None:
    ps.execute("CREATE TABLE t (x int)")
    create_exact(ps, "st", "SELECT x FROM t")
    ps.execute("TRUNCATE t")
    assert refresh_exact(ps, "st").action is Action.FULL
    assert refresh_exact(ps, "st").action is Action.NO_DATA


def test_a_large_change_is_full_with_the_reason(database: str, spark: object) -> None:
    """By the user's limit, or by what PostgreSQL's statistics let expect; never a few rows."""
    from pgstream.settings import Settings

    with PgStream(database, spark, settings=Settings(min_schedule_seconds=1)) as ps:
        ps.execute("CREATE TABLE t (id int, k int, x int)")
        ps.execute("INSERT INTO t SELECT i, i % 50, i FROM generate_series(1, 150000) i")
        ps.execute("CREATE TABLE few AS SELECT generate_series(1, 10) AS x")
        ps.execute("ANALYZE t, few")
        create_exact(ps, "st", "SELECT k, x, count(*) OVER (PARTITION BY k) AS n FROM t")
        create_exact(ps, "of_few", "SELECT x FROM few")
        ps.execute("ANALYZE st")
        ps.execute("UPDATE t SET x = 0 WHERE id < 40")
        assert refresh_exact(ps, "st").action is Action.DIFFERENTIAL
        ps.execute("UPDATE t SET x = 1 WHERE id < 200")
        result = refresh_exact(ps, "st")
        assert result.action is Action.FULL
        wanted = r"398 changes: 150,\d\d\d of 300,\d\d\d rows would be read"
        assert re.match(wanted, result.reason), result.reason
        (recorded,) = ps.history("st", 1)
        assert recorded["expected_rows"] == result.expected_rows
        assert recorded["expected_ms"] == result.expected_ms
        assert result.rows_read == 300_000
        ps.execute("UPDATE t SET x = 2 WHERE id < 100000")
        assert "differential_max_change_ratio 0.5" in refresh_exact(ps, "st").reason
        ps.execute("UPDATE few SET x = x + 1")
        assert refresh_exact(ps, "of_few").action is Action.DIFFERENTIAL


def test_dropping_a_table_that_others_read_is_refused(chain: PgStream) -> None:
    with pytest.raises(PgStreamError, match="mid"):
        chain.drop_stream_table("low")
    chain.execute("UPDATE t SET x = 1")
    refresh_exact(chain, "top", "mid", "low")
    for name in ("top", "mid", "low"):
        chain.drop_stream_table(name)
    assert chain.status() == []
    assert chain.execute("SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal") == [(0,)]


@pytest.mark.usual_way
def test_changes_that_cancel_out(chain: PgStream) -> None:
    script(
        chain,
        "INSERT INTO t VALUES (500, 1, 1)",
        "UPDATE t SET x = 2 WHERE id = 500",
        "DELETE FROM t WHERE id = 500",
    )
    result = refresh_exact(chain, "low")
    assert result.action is Action.NO_DATA
    assert result.spark_actions == 0
    script(chain, "UPDATE t SET x = x + 1", "UPDATE t SET x = x - 1")
    result = refresh_exact(chain, "top", "mid", "low")
    assert [each.action for each in (*result.upstream, result)] == [Action.NO_DATA] * 3
    assert [each.spark_actions for each in (*result.upstream, result)] == [0, 0, 0]


@pytest.mark.usual_way
def test_columns_that_nobody_reads_change_nothing(base: PgStream) -> None:
    create_exact(base, "st", "SELECT g, count(*) AS n FROM t GROUP BY g")
    base.execute("UPDATE t SET x = x + 1")
    result = refresh_exact(base, "st")
    assert result.rows_inserted == result.rows_deleted == 0
    assert result.spark_actions == 0


def test_a_suspended_upstream_is_read_as_it_is(chain: PgStream) -> None:
    chain.alter_stream_table("low", status="SUSPENDED")
    before = rows(chain, "low")
    chain.execute("UPDATE t SET x = x + 7")
    result = chain.refresh_stream_table("top")
    assert_exact(chain, "top", "mid")
    assert [each.name for each in result.upstream] == ["public.mid"]
    assert rows(chain, "low") == before
    with pytest.raises(PgStreamError, match="suspended"):
        chain.refresh_stream_table("low")
    chain.alter_stream_table("low", status="ACTIVE")
    refresh_exact(chain, "top", "mid", "low")


def test_the_middle_is_suspended(chain: PgStream) -> None:
    chain.alter_stream_table("mid", status="SUSPENDED")
    for change in CHANGES[:3]:
        chain.execute(change)
        chain.refresh_stream_table("top")
        assert_exact(chain, "top", "low")
    chain.alter_stream_table("mid", status="ACTIVE")
    refresh_exact(chain, "top", "mid", "low")


def test_a_new_reader_of_a_changed_table(chain: PgStream) -> None:
    """Created over an upstream that has changes nobody has seen yet."""
    chain.execute("UPDATE t SET x = x + 7")
    create_exact(chain, "late", "SELECT l.id, m.total FROM low l JOIN mid m ON l.g = m.g")
    assert_exact(chain, "late", "mid", "low")
    chain.execute("DELETE FROM t WHERE id < 10")
    refresh_exact(chain, "late", "mid", "low")
    refresh_exact(chain, "top")


def test_cycles_cannot_be_made(chain: PgStream) -> None:
    with pytest.raises(PgStreamError):
        chain.create_stream_table("low", "SELECT n FROM top")
    with pytest.raises(PgStreamError):
        chain.create_stream_table("itself", "SELECT n FROM itself")


def test_buffers_are_emptied(chain: PgStream) -> None:
    for change in CHANGES:
        chain.execute(change)
        refresh_exact(chain, "top", "mid", "low")
    chain.refresh_stream_table("top")
    buffers = chain.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = 'pgstream_changes'::regnamespace"
        " AND relkind = 'r'"
    )
    assert len(buffers) == 3
    for (name,) in buffers:
        assert chain.execute(f"SELECT count(*) FROM pgstream_changes.{name}") == [(0,)], name


def test_the_same_source_under_many_readers(base: PgStream) -> None:
    """One reader that lags keeps what it has not seen."""
    create_exact(base, "fast", "SELECT g, sum(x) AS total FROM t GROUP BY g")
    create_exact(base, "slow", "SELECT id, x FROM t WHERE g = 1")
    for change in CHANGES[:4]:
        base.execute(change)
        refresh_exact(base, "fast")
    refresh_exact(base, "slow")


def test_names_that_need_quotes(ps: PgStream) -> None:
    script(
        ps,
        'CREATE SCHEMA "My Schema"',
        'CREATE TABLE "My Schema"."Or""ders" ("Id" int, "Group By" text, "%s {x}" int)',
        "INSERT INTO \"My Schema\".\"Or\"\"ders\" VALUES (1, 'a', 1), (2, 'a', 2), (3, 'b', 3)",
    )
    query = (
        'SELECT "Group By", sum("%s {x}") AS "select", count(*) AS "n " FROM "My Schema"."Or""ders"'
        ' GROUP BY "Group By"'
    )
    create_exact(ps, '"My Schema"."St 1"', query)
    create_exact(
        ps, '"St 2"', 'SELECT a."select", b."Id" FROM "My Schema"."St 1" a'
        ' JOIN "My Schema"."Or""ders" b USING ("Group By")',
    )  # fmt: skip
    ps.execute('UPDATE "My Schema"."Or""ders" SET "Group By" = \'b\', "%s {x}" = 9 WHERE "Id" = 2')
    refresh_exact(ps, '"St 2"', '"My Schema"."St 1"')
