"""Refreshers in threads share Spark; a group is one commit; a refresh is cancelled."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from helpers import assert_exact, create_exact, refresh_exact, script
from pgstream.catalog.records import Action, Initiator
from pgstream.client import PgStream
from pgstream.engine.spark.session import Sessions
from pgstream.errors import PgStreamError, RefreshTimeout, Suspended
from pgstream.refresh.refresher import Refresher

TABLES, THREADS, ROUNDS = 8, 4, 4
OVERLAPPING = """
SELECT 1 FROM pgstream.pgs_refresh_history a JOIN pgstream.pgs_refresh_history b
    ON a.refresh_id < b.refresh_id AND b.start_time < a.end_time
WHERE a.action = 'DIFFERENTIAL' AND b.action = 'DIFFERENTIAL'
"""
QUERIES = (
    "SELECT g, sum(x) AS total, max(x) AS most FROM t{0} GROUP BY g",
    "SELECT t.id, u.name FROM t{0} t JOIN u ON u.g = t.g",
    "SELECT g, count(DISTINCT x) AS n, avg(x) AS mean FROM t{0} GROUP BY g",
    "SELECT id, x, rank() OVER (PARTITION BY g ORDER BY x) AS r FROM t{0}",
)


@contextmanager
def refreshers(ps: PgStream, count: int) -> Iterator[list[Refresher]]:
    with ExitStack() as opened:
        made = [Refresher(ps.dsn, ps.sessions, ps.settings) for _ in range(count)]
        for each in made:
            each.ways = ps.refresher.ways
            opened.callback(each.close)
        yield made


def test_eight_tables_by_four_threads(ps: PgStream) -> None:
    script(ps, "CREATE TABLE u (g int PRIMARY KEY, name text)",
           "INSERT INTO u SELECT i, 'n' || i FROM generate_series(0, 4) i")  # fmt: skip
    names = [f"st{i}" for i in range(TABLES)]
    for i, name in enumerate(names):
        script(ps, f"CREATE TABLE t{i} (id int PRIMARY KEY, g int, x int)",
               f"INSERT INTO t{i} SELECT j, j % 5, j FROM generate_series(1, 40) j")  # fmt: skip
        create_exact(ps, name, QUERIES[i % len(QUERIES)].format(i))
    failures: list[BaseException] = []

    def work(refresher: Refresher, mine: list[str], start: threading.Barrier) -> None:
        try:
            start.wait(30)
            for name in mine:
                table = ps_table[name]
                assert refresher.refresh(table, Initiator.SCHEDULER).action is Action.DIFFERENTIAL
        except BaseException as error:
            failures.append(error)

    with refreshers(ps, THREADS) as made:
        for n in range(ROUNDS):
            for i in range(TABLES):
                script(ps, f"UPDATE t{i} SET x = x + 1, g = (g + {n}) % 5 WHERE id % 4 = {n}",
                       f"DELETE FROM t{i} WHERE id = {n + 5}",
                       f"INSERT INTO t{i} VALUES ({100 + n}, {n}, {i})")  # fmt: skip
            ps_table = {name: ps.table(name) for name in names}
            start = threading.Barrier(THREADS)
            threads = [
                threading.Thread(target=work, args=(each, names[k::THREADS], start))
                for k, each in enumerate(made)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert failures == []
            assert_exact(ps, *names)
    assert ps.execute(OVERLAPPING)


@pytest.fixture
def two(ps: PgStream) -> PgStream:
    """a and b read low; c reads nothing of theirs."""
    script(
        ps,
        "CREATE TABLE t (id int PRIMARY KEY, x int)",
        "INSERT INTO t SELECT i, i FROM generate_series(1, 9) i",
        "CREATE TABLE v (id int)",
    )
    create_exact(ps, "low", "SELECT id, x FROM t WHERE x > 2")
    create_exact(ps, "a", "SELECT sum(x) AS s FROM low")
    create_exact(ps, "b", "SELECT 10 / min(x) AS m FROM low")
    create_exact(ps, "c", "SELECT id FROM v")
    return ps


def test_a_group_is_one_commit(two: PgStream) -> None:
    script(two, "INSERT INTO t VALUES (10, 5)", "INSERT INTO v VALUES (1)")
    tables = [two.table(name) for name in ("a", "b", "c")]
    results = two.refresher.refresh_group(tables, Initiator.SCHEDULER)
    assert {each.name for each in results} == {f"public.{n}" for n in ("low", "a", "b", "c")}
    names = [each.name for each in results]
    assert names.index("public.low") < min(names.index("public.a"), names.index("public.b"))
    assert {two.table(name).data_timestamp for name in ("low", "a", "b", "c")} == {
        two.table("low").data_timestamp
    }
    assert_exact(two, "low", "a", "b", "c")


def test_an_error_knows_its_table_and_undoes_the_group(two: PgStream) -> None:
    script(two, "INSERT INTO v VALUES (1)", "UPDATE t SET x = 3 WHERE id = 1")
    before = {name: two.table(name) for name in ("low", "a", "b", "c")}
    two.execute("ALTER TABLE v RENAME id TO other")
    with pytest.raises(PgStreamError) as caught:
        two.refresher.refresh_group([before["a"], before["c"]], Initiator.SCHEDULER)
    assert caught.value.table_id == before["c"].id
    for name in ("low", "a"):
        assert two.table(name).frontier == before[name].frontier
        assert two.table(name).consecutive_errors == 0
    refresh_exact(two, "a", "low")
    two.alter_stream_table("b", status="SUSPENDED")
    with pytest.raises(Suspended) as refused:
        two.refresher.refresh_group([before["a"], before["b"]], Initiator.SCHEDULER)
    assert refused.value.table_id == before["b"].id


def cancel_when(refresher: Refresher, ready: str, ps: PgStream) -> threading.Thread:
    """Cancels as soon as the query says so."""

    def wait() -> None:
        with PgStream(ps.dsn, settings=ps.settings, sessions=ps.sessions) as other:
            deadline = time.monotonic() + 60
            while not other.execute(ready) and time.monotonic() < deadline:
                time.sleep(0.02)
            refresher.cancel()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def test_a_statement_is_cancelled(two: PgStream) -> None:
    two.execute("CREATE FUNCTION slow(int) RETURNS int IMMUTABLE LANGUAGE plpgsql"
                " AS 'BEGIN PERFORM pg_sleep(60); RETURN $1; END'")  # fmt: skip
    two.create_stream_table("d", "SELECT slow(id) AS id FROM v")
    two.execute("INSERT INTO v VALUES (1)")
    before = two.table("d")
    asleep = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
    thread = cancel_when(two.refresher, asleep, two)
    with pytest.raises(RefreshTimeout) as caught:
        two.refresher.refresh(before, Initiator.SCHEDULER)
    thread.join()
    assert caught.value.table_id == before.id
    after = two.table("d")
    assert (after.frontier, after.status) == (before.frontier, before.status)
    assert two.history("d", 1)[0]["status"] == "FAILED"
    two.refresher.cancel()  # of nobody
    refresh_exact(two, "a", "low")


def test_a_spark_job_is_cancelled(two: PgStream, sessions: Sessions, spark: object) -> None:
    """It waits for an executor: all of them sleep, in jobs of somebody else."""
    from pyspark.sql import SparkSession

    assert isinstance(spark, SparkSession)
    two.execute("INSERT INTO t VALUES (11, 11)")
    sleepers = spark.sparkContext.parallelize(range(2), 2)
    done = threading.Event()

    def sleep() -> None:
        spark.sparkContext.setLocalProperty("spark.scheduler.pool", "others")
        spark.sparkContext.setJobGroup("sleepers", "sleep", interruptOnCancel=True)
        try:
            sleepers.foreach(lambda _: time.sleep(60))
        except Exception:
            done.set()

    thread = threading.Thread(target=sleep)
    thread.start()
    tracker = spark.sparkContext.statusTracker()

    def cancel() -> None:
        while len(tracker.getActiveJobsIds()) < 2:
            time.sleep(0.02)
        two.refresher.cancel()

    canceller = threading.Thread(target=cancel)
    canceller.start()
    try:
        with pytest.raises(RefreshTimeout):
            two.refresher.refresh(two.table("low"), Initiator.SCHEDULER)
    finally:
        spark.sparkContext.cancelJobGroup("sleepers")
        thread.join()
        canceller.join()
    assert done.is_set()
    refresh_exact(two, "a", "low")
