"""A worker that follows changes, in several lanes."""

from __future__ import annotations

import random
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Any

import pytest

from background import Background, until
from helpers import assert_exact, open_stream
from pgstream.client import PgStream
from pgstream.database import migrate
from pgstream.database.connection import DatabaseError
from pgstream.database.connection import connect_as_user as connect
from pgstream.database.embedded import EmbeddedServer
from pgstream.engine.spark.session import Sessions
from pgstream.settings import Settings

BRANCHES = "SELECT branch, sum(balance) AS total, count(*) AS n FROM accounts GROUP BY branch"
BANK = "SELECT sum(total) AS total, sum(n) AS n FROM branches"
ACCOUNTS, BALANCE, WRITERS = 40, 100, 4


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """With ticks so seldom that nothing here is due to them."""
    return replace(settings, scheduler_interval_ms=60_000)


@pytest.fixture
def start(database: str, spark: Any, settings: Settings) -> Iterator[Callable[[], Background]]:
    """Starts a worker when the tables are there."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(Background(database, spark, settings))


def with_accounts(ps: PgStream) -> None:
    ps.execute("CREATE TABLE accounts (id int PRIMARY KEY, branch int, balance int)")
    ps.execute(
        "INSERT INTO accounts SELECT i, i %% 5, %s FROM generate_series(1, %s) i",
        (BALANCE, ACCOUNTS),
    )
    ps.create_stream_table("branches", BRANCHES, "CALCULATED")
    ps.create_stream_table("bank", BANK, "on change")


def ask_for_reinit(ps: PgStream, name: str) -> None:
    ps.execute(
        "UPDATE pgstream.pgs_stream_tables SET needs_reinit = true, reinit_reason = 'a test'"
        " WHERE pgs_name = %s",
        (name,),
    )
    ps.execute("SELECT pg_notify('pgstream_wake', '')")


def actions(ps: PgStream, name: str) -> list[tuple[str, str]]:
    return [(h["initiated_by"], h["action"]) for h in reversed(ps.history(name, 1000))]


@pytest.mark.smoke("schedule")
def test_a_commit_wakes_the_layers_that_read_it(
    ps: PgStream, start: Callable[[], Background]
) -> None:
    with_accounts(ps)
    start()
    for amount in (1, 10, 100):
        ps.execute("UPDATE accounts SET balance = balance + %s WHERE id = 1", (amount,))
        total = ps.execute("SELECT sum(balance) FROM accounts")
        until(lambda total=total: ps.execute("SELECT total FROM bank") == total)
    assert_exact(ps, "branches", "bank")
    for name in ("branches", "bank"):
        assert actions(ps, name).count(("SCHEDULER", "DIFFERENTIAL")) == 3


def test_a_commit_in_the_wal_wakes_them_too(
    ps: PgStream, database: str, spark: Any, settings: Settings
) -> None:
    """No trigger moves a sequence there."""
    with_accounts(ps)
    ps.execute("ALTER TABLE accounts REPLICA IDENTITY FULL")
    from_wal = replace(settings, cdc_mode="auto")
    with open_stream(database, ps.sessions, from_wal) as user:
        user.refresh_stream_table("bank")
        modes = "SELECT cdc_mode FROM pgstream.pgs_dependencies WHERE source_type = 'TABLE'"
        assert user.execute(modes) == [("WAL",)]
    with Background(database, spark, from_wal) as worker, connect(database) as late:
        late.execute("BEGIN")
        late.execute("UPDATE accounts SET balance = 0 WHERE id = 2")
        for amount in (1, 10, 100):
            ps.execute("UPDATE accounts SET balance = balance + %s WHERE id = 1", (amount,))
            total = ps.execute("SELECT sum(balance) FROM accounts")
            until(lambda total=total: ps.execute("SELECT total FROM bank") == total)
        late.execute("COMMIT")
        total = ps.execute("SELECT sum(balance) FROM accounts")
        until(lambda: ps.execute("SELECT total FROM bank") == total)
        assert not worker.lines("failure")
    assert_exact(ps, "branches", "bank")
    for name in ("branches", "bank"):
        assert actions(ps, name).count(("SCHEDULER", "DIFFERENTIAL")) == 4
    assert len(actions(ps, "bank")) < 12  # it does not wake itself


def test_the_bank_s_total_is_right_in_every_version(
    ps: PgStream,
    database: str,
    start: Callable[[], Background],
    request: pytest.FixtureRequest,
) -> None:
    with_accounts(ps)
    worker = start()
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    end = time.monotonic() + request.config.getoption("--bank-seconds")
    writers = [
        threading.Thread(target=_transfer, args=(database, seed + number, end))
        for number in range(WRITERS)
    ]
    for thread in writers:
        thread.start()
    versions = set()
    while any(thread.is_alive() for thread in writers):
        ((branches, bank, number, version),) = ps.execute(
            "SELECT (SELECT sum(total) FROM branches), b.total, b.n, t.frontier::text"
            " FROM bank b, pgstream.pgs_stream_tables t WHERE t.pgs_name = 'bank'"
        )
        assert branches == bank == ACCOUNTS * BALANCE
        assert number == ACCOUNTS
        versions.add(version)
    assert len(versions) > 2
    ps.execute("UPDATE accounts SET balance = balance + 1 WHERE id = 1")
    until(lambda: ps.execute("SELECT total FROM bank") == [(ACCOUNTS * BALANCE + 1,)])
    assert_exact(ps, "branches", "bank")
    assert not worker.lines("failure")


def _transfer(dsn: str, seed: int, end: float) -> None:
    chance = random.Random(seed)
    with connect(dsn) as connection:
        while time.monotonic() < end:
            one, other = sorted(chance.sample(range(1, ACCOUNTS + 1), 2))
            amount = chance.randrange(-50, 50)
            with connection.transaction():
                for id_, sign in ((one, 1), (other, -1)):
                    connection.execute(
                        "UPDATE accounts SET balance = balance + %s WHERE id = %s",
                        (sign * amount, id_),
                    )
            time.sleep(0.002)


def test_one_that_hangs_is_cancelled_and_others_go_on(
    ps: PgStream, database: str, spark: Any, settings: Settings
) -> None:
    """A locked source: only its own reader waits, until the lock is gone."""
    for name in ("a", "b"):
        ps.execute(f"CREATE TABLE {name} (id int PRIMARY KEY)")
        ps.create_stream_table(f"st_{name}", f"SELECT id FROM {name}", "on change")
    hasty = replace(settings, refresh_timeout=2, shutdown_timeout=0)
    with Background(database, spark, hasty) as worker, connect(database) as other:
        ps.execute("INSERT INTO a VALUES (1)")
        until(lambda: ps.execute("SELECT 1 FROM st_a"))
        with other.transaction():
            other.execute("LOCK TABLE a IN ACCESS EXCLUSIVE MODE")
            ask_for_reinit(ps, "st_a")
            until(lambda: any(h["status"] == "RUNNING" for h in ps.history("st_a")))
            ps.execute("INSERT INTO b VALUES (1)")
            until(lambda: ps.execute("SELECT 1 FROM st_b"))
            until(lambda: worker.lines("failure"))
        assert "cancelled" in worker.lines("failure")[0]
        until(lambda: actions(ps, "st_a")[-1] == ("SCHEDULER", "REINITIALIZE"))
        assert ps.table("st_a").status == "ACTIVE"
        assert_exact(ps, "st_a", "st_b")
        with other.transaction():
            other.execute("LOCK TABLE b IN ACCESS EXCLUSIVE MODE")
            ask_for_reinit(ps, "st_b")
            until(lambda: any(h["status"] == "RUNNING" for h in ps.history("st_b")))
            worker.worker.stop()
            worker.thread.join()
    assert ps.history("st_b", 1)[0]["status"] == "FAILED"


def test_a_failure_in_a_group_leaves_the_others_fresh(
    ps: PgStream, start: Callable[[], Background]
) -> None:
    ps.execute("CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 1)")
    ps.create_stream_table("all_rows", "SELECT id, v FROM t", "CALCULATED")
    ps.create_stream_table("inverse", "SELECT id, 100 / v AS share FROM all_rows", "on change")
    ps.create_stream_table("doubled", "SELECT id, 2 * v AS twice FROM all_rows", "on change")
    start()
    ps.execute("INSERT INTO t VALUES (2, 0)")
    until(lambda: ps.execute("SELECT 1 FROM doubled WHERE id = 2"))
    assert ps.table("doubled").consecutive_errors == 0
    until(lambda: ps.table("inverse").status == "ERROR")  # after max_consecutive_errors
    ps.execute("UPDATE t SET v = 5 WHERE id = 2")
    ps.alter_stream_table("inverse", status="ACTIVE")
    until(lambda: ps.execute("SELECT 1 FROM inverse WHERE id = 2"))
    assert_exact(ps, "all_rows", "inverse", "doubled")


def test_a_server_that_stops_and_starts_again_is_found(
    spark: Any, sessions: Sessions, settings: Settings
) -> None:
    with tempfile.TemporaryDirectory(prefix="pgstream_restart_") as home:
        server = EmbeddedServer.start(home)
        with connect(server.dsn) as admin:
            migrate.install(admin)
        with open_stream(server.dsn, sessions, settings) as ps:
            with_accounts(ps)
        with Background(server.dsn, spark, settings) as worker:
            writer = threading.Thread(
                target=_transfer_until_cut, args=(server.dsn, time.monotonic() + 30)
            )
            writer.start()
            until(lambda: worker.lines("refresh"))
            server.stop()
            until(lambda: worker.lines("disconnected"))
            writer.join()
            with EmbeddedServer.start(home), open_stream(server.dsn, sessions, settings) as ps:
                ps.execute("UPDATE accounts SET balance = balance + 1 WHERE id = 1")
                until(lambda: ps.execute("SELECT total FROM bank") == [(ACCOUNTS * BALANCE + 1,)])
                assert_exact(ps, "branches", "bank")
                worker.worker.stop()
                worker.thread.join()


def _transfer_until_cut(dsn: str, end: float) -> None:
    with suppress(DatabaseError):
        _transfer(dsn, 1, end)
