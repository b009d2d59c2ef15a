"""Transactions beside refreshes: what commits late is seen late, nothing is lost or doubled."""

from __future__ import annotations

import random
import threading
import time

import psycopg
import pytest

from helpers import assert_exact, create_exact, refresh_exact, rows, script
from pgstream.catalog.records import Action
from pgstream.client import PgStream

WRITERS = 8
REFRESHES = 30


@pytest.fixture
def bank(ps: PgStream) -> PgStream:
    script(
        ps,
        "CREATE TABLE branches (id int PRIMARY KEY, name text)",
        "CREATE TABLE accounts (id bigint PRIMARY KEY, branch int, amount numeric(12,2))",
        "INSERT INTO branches SELECT i, 'branch ' || i FROM generate_series(0, 9) i",
        "INSERT INTO accounts SELECT i, i % 10, i FROM generate_series(1, 200) i",
    )
    create_exact(
        ps,
        "totals",
        "SELECT b.name, sum(a.amount) AS total, count(*) AS n, max(a.amount) AS high"
        " FROM accounts a JOIN branches b ON a.branch = b.id GROUP BY b.name",
    )
    create_exact(ps, "rich", "SELECT a.id, a.branch, a.amount FROM accounts a WHERE a.amount > 50")
    create_exact(
        ps, "top", "SELECT t.n, r.id FROM totals t JOIN branches b ON b.name = t.name"
        " JOIN rich r ON r.branch = b.id",
    )  # fmt: skip
    return ps


def test_a_transaction_that_commits_after_the_refresh(bank: PgStream) -> None:
    with psycopg.connect(bank.dsn) as writer:
        writer.execute("INSERT INTO accounts VALUES (1000, 1, 70)")
        writer.execute("UPDATE accounts SET amount = 0 WHERE id = 3")
        bank.execute("INSERT INTO accounts VALUES (1001, 2, 8)")
        assert refresh_exact(bank, "rich").changes_read == 1
        bank.execute("INSERT INTO accounts VALUES (1002, 3, 99)")
        refresh_exact(bank, "rich")
        writer.commit()
    result = refresh_exact(bank, "rich")
    assert result.action is Action.DIFFERENTIAL
    assert result.changes_read == 3
    assert refresh_exact(bank, "rich").action is Action.NO_DATA
    refresh_exact(bank, "top", "totals", "rich")


def test_transactions_commit_in_another_order_than_they_began(bank: PgStream) -> None:
    writers = [psycopg.connect(bank.dsn) for _ in range(5)]
    for i, writer in enumerate(writers):
        writer.execute("INSERT INTO accounts VALUES (%s, 1, 60)", (2000 + i,))
    for i in (3, 0, 4, 2, 1):
        writers[i].commit()
        refresh_exact(bank, "totals")
        writers[i].close()
    assert refresh_exact(bank, "totals").action is Action.NO_DATA


def test_a_rollback_is_never_seen(bank: PgStream) -> None:
    with psycopg.connect(bank.dsn) as writer:
        writer.execute("DELETE FROM accounts")
        refresh_exact(bank, "totals")
        writer.rollback()
        assert refresh_exact(bank, "totals").action is Action.NO_DATA


def test_savepoints(bank: PgStream) -> None:
    with psycopg.connect(bank.dsn) as writer:
        writer.execute("INSERT INTO accounts VALUES (3000, 1, 100)")
        writer.execute("SAVEPOINT a")
        writer.execute("INSERT INTO accounts VALUES (3001, 1, 100)")
        writer.execute("ROLLBACK TO a")
        writer.execute("INSERT INTO accounts VALUES (3002, 1, 100)")
        writer.execute("SAVEPOINT b")
        refresh_exact(bank, "rich")
        writer.execute("UPDATE accounts SET amount = 101 WHERE id = 3002")
        writer.execute("RELEASE b")
        writer.execute("SAVEPOINT c")
        writer.execute("DELETE FROM accounts WHERE id = 3000")
        writer.execute("ROLLBACK TO c")
        writer.commit()
    refresh_exact(bank, "rich")
    assert {3000, 3002} <= {row[0] for row in rows(bank, "rich")}
    refresh_exact(bank, "top", "totals", "rich")


def test_a_subtransaction_in_a_function(bank: PgStream) -> None:
    """BEGIN … EXCEPTION makes a subtransaction with an xid of its own."""
    bank.execute(
        "DO $$ BEGIN INSERT INTO accounts VALUES (4000, 1, 55);"
        " BEGIN INSERT INTO accounts VALUES (4001, 1, 55); RAISE 'no'; EXCEPTION WHEN OTHERS THEN"
        " INSERT INTO accounts VALUES (4002, 1, 55); END; END $$"
    )
    refresh_exact(bank, "rich")
    assert {4000, 4002} <= {row[0] for row in rows(bank, "rich")}


class Writer(threading.Thread):
    """Short and long transactions at random; some are rolled back."""

    def __init__(self, dsn: str, number: int, done: threading.Event) -> None:
        super().__init__()
        self.dsn, self.number, self.done = dsn, number, done
        self.random = random.Random(number)
        self.fresh = number * 1_000_000
        self.commits = 0
        self.failures: list[BaseException] = []

    def run(self) -> None:
        try:
            with psycopg.connect(self.dsn) as connection:
                while not self.done.is_set():
                    self.transaction(connection)
        except BaseException as error:
            self.failures.append(error)

    def transaction(self, connection: psycopg.Connection) -> None:
        try:
            for _ in range(self.random.randint(1, 4)):
                self.statement(connection)
                time.sleep(self.random.choice((0, 0, 0.01, 0.3)))
            if self.random.random() < 0.15:
                connection.rollback()
                return
            connection.commit()
            self.commits += 1
        except (psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure):
            connection.rollback()
        time.sleep(0.02)

    def statement(self, connection: psycopg.Connection) -> None:
        form = self.random.random()
        branch, amount = self.random.randint(0, 11), self.random.randint(0, 100)
        if form < 0.5:
            self.fresh += 1
            connection.execute(
                "INSERT INTO accounts VALUES (%s, %s, %s)", (self.fresh, branch, amount)
            )
        elif form < 0.75:
            connection.execute(
                "UPDATE accounts SET branch = %s, amount = %s WHERE id IN"
                " (SELECT id FROM accounts WHERE id %% 8 = %s LIMIT 3)",
                (branch, amount, self.number % 8),
            )
        elif form < 0.95:
            connection.execute(
                "DELETE FROM accounts WHERE id IN"
                " (SELECT id FROM accounts WHERE id %% 8 = %s LIMIT 1)",
                (self.number % 8,),
            )
        else:
            connection.execute(
                "UPDATE branches SET name = name || '+' WHERE id = %s", (self.number % 10,)
            )


def test_eight_writers_during_thirty_refreshes(bank: PgStream) -> None:
    done = threading.Event()
    writers = [Writer(bank.dsn, number, done) for number in range(1, WRITERS + 1)]
    for writer in writers:
        writer.start()
    try:
        for i in range(REFRESHES):
            bank.refresh_stream_table(("rich", "totals", "top")[i % 3])
        while any(writer.is_alive() and not writer.commits for writer in writers):
            bank.refresh_stream_table("top")  # a busy machine has not let each of them begin
    finally:
        done.set()
        for writer in writers:
            writer.join()
    assert [writer.failures for writer in writers] == [[]] * WRITERS
    assert min(writer.commits for writer in writers) > 0
    refresh_exact(bank, "top", "rich", "totals")
    assert {row["status"] for row in bank.history("top", 100)} == {"COMPLETED"}
    assert refresh_exact(bank, "top").action is Action.NO_DATA


def test_two_refreshers_at_once(bank: PgStream, spark: object) -> None:
    """Of two refreshes of one table at most one works; the other skips. Nothing is doubled."""
    outcomes: list[str] = []
    failures: list[BaseException] = []

    def refresh() -> None:
        try:
            with PgStream(bank.dsn, spark, settings=bank.settings) as other:
                for _ in range(6):
                    outcomes.append(other.refresh_stream_table("top").action)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=refresh) for _ in range(2)]
    for thread in threads:
        thread.start()
    for i in range(12):
        bank.execute(f"INSERT INTO accounts VALUES ({5000 + i}, {i % 10}, 75)")
        time.sleep(0.05)
    for thread in threads:
        thread.join()
    assert failures == []
    assert Action.DIFFERENTIAL in outcomes
    refresh_exact(bank, "top", "rich", "totals")
    assert_exact(bank, "top")
