"""Workers as processes: two at once on one database, and how they end."""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from background import until
from helpers import SHORT_LIVED, assert_exact, script
from pgstream.client import PgStream
from pgstream.database.connection import connect_as_user as connect

ORDERS = """
CREATE TABLE orders (id int PRIMARY KEY, region text, amount int);
INSERT INTO orders VALUES (1, 'n', 10), (2, 'n', 20), (3, 's', 5)
"""
TOTALS = "SELECT region, sum(amount) AS total, count(*) AS n FROM orders GROUP BY region"
BIG = "SELECT region, total FROM totals WHERE total > 10"
UNDER_WAY = "SELECT 1 FROM pgstream.pgs_refresh_history WHERE status = 'RUNNING'"


class Served:
    """A worker's process. What it tells is read all the time, else it would wait for that."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.log: list[dict[str, Any]] = []
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as lines:
            for line in lines:
                if line.endswith("\n"):  # a kill may cut the last one
                    self.log.append(json.loads(line))

    def ready(self) -> None:
        until(lambda: any(event["event"] == "ready" for event in self.log))

    @property
    def refreshes(self) -> int:
        """How many it has told of."""
        return sum(event["event"] == "refresh" for event in self.log)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def end(self, how: signal.Signals) -> list[dict[str, Any]]:
        self.process.send_signal(how)
        assert self.process.wait(30) == 0
        self._reading.join()
        return self.log


@contextlib.contextmanager
def serving(dsn: str, port: int = 0) -> Iterator[Served]:
    environment = {
        **SHORT_LIVED,
        "PGSTREAM_DIFFERENTIAL_MAX_CHANGE_RATIO": "0",
        "PGSTREAM_SCHEDULER_INTERVAL_MS": "200",
        "PGSTREAM_SPARK_MASTER": "local[1]",
        "PGSTREAM_WORKER_PORT": str(port),
    }
    command = [sys.executable, "-c", "from pgstream.cli import main; main()", "serve", "--json"]
    process = subprocess.Popen(
        [*command, "--dsn", dsn], env=environment, stderr=subprocess.PIPE, text=True
    )
    served = Served(process)
    try:
        yield served
    finally:
        served.kill()


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def answers(port: int, path: str) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    with contextlib.closing(connection):
        connection.request("GET", path)
        return connection.getresponse().status == 200


@pytest.mark.smoke("web")
def test_two_workers_at_once_are_exact_and_end_with_0(ps: PgStream, database: str) -> None:
    ps.execute(ORDERS)
    ps.create_stream_table("totals", TOTALS, "CALCULATED")
    ps.create_stream_table("big", BIG, "1s")
    ps.create_stream_table("copy", "SELECT id, region, amount FROM orders", "1s")
    port = free_port()
    with serving(database, port) as one, serving(database) as two:
        one.ready()
        two.ready()
        assert answers(port, "/healthz")
        until(lambda: answers(port, "/readyz"))
        asking = [threading.Thread(target=_ask, args=(database, n)) for n in ("big", "copy")]
        for thread in asking:
            thread.start()
        _write(ps, 6.0)
        for thread in asking:
            thread.join()
        logs = [one.end(signal.SIGTERM), two.end(signal.SIGINT)]
    refreshes = [[e for e in log if e["event"] == "refresh"] for log in logs]
    assert any(refreshes), logs
    assert not [e for log in logs for e in log if e["event"] == "failure"]
    assert all(log[-1]["event"] == "stopped" for log in logs)
    ps.refresh_stream_table("big")
    ps.refresh_stream_table("copy")
    assert_exact(ps, "totals", "big", "copy")
    assert not ps.execute("SELECT 1 FROM pgstream.pgs_refresh_history WHERE status = 'FAILED'")


def test_a_worker_takes_over_from_one_that_is_killed(
    ps: PgStream, database: str, request: pytest.FixtureRequest
) -> None:
    """Under load, each time the one that refreshes more; --kills says how often."""
    ps.execute(ORDERS)
    ps.create_stream_table("totals", TOTALS, "CALCULATED")
    ps.create_stream_table("big", BIG, "on change")
    ps.create_stream_table("copy", "SELECT id, region, amount FROM orders", "1s")
    kills = request.config.getoption("--kills")
    with contextlib.ExitStack() as stack:
        alive = [stack.enter_context(serving(database)) for _ in range(2)]
        for each in alive:
            each.ready()
        stack.enter_context(_load(database))
        for number in range(kills):
            known = {each: each.refreshes for each in alive}
            time.sleep(2.0)
            busy = max(alive, key=lambda each: each.refreshes - known[each])
            assert busy.refreshes > known[busy]
            until(lambda: ps.execute(UNDER_WAY))
            busy.kill()
            alive.remove(busy)
            _until_all_know(ps, f"killed {number}")
            if number + 1 < kills:
                alive.append(stack.enter_context(serving(database)))
                alive[-1].ready()
        logs = [each.end(signal.SIGTERM) for each in alive]
    assert not [e for log in logs for e in log if e["event"] == "failure"]
    assert_never_twice(ps)
    ps.refresh_stream_table("big")
    ps.refresh_stream_table("copy")
    assert_exact(ps, "totals", "big", "copy")


@contextlib.contextmanager
def _load(dsn: str) -> Iterator[None]:
    """Somebody writes all the time."""
    ending = threading.Event()

    def write() -> None:
        with connect(dsn) as connection:
            while not ending.wait(0.02):
                connection.execute("UPDATE orders SET amount = amount + 1 WHERE id = 1")

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        ending.set()
        thread.join()


def _until_all_know(ps: PgStream, region: str) -> None:
    ps.execute("INSERT INTO orders SELECT max(id) + 1, %s, 50 FROM orders", (region,))
    written = time.monotonic()
    for name in ("big", "copy"):
        until(lambda n=name: ps.execute(f"SELECT 1 FROM {n} WHERE region = %s", (region,)))
    ((longest,),) = ps.execute(
        "SELECT max(end_time - start_time) FROM pgstream.pgs_refresh_history"
        " WHERE start_time > now() - make_interval(secs => %s)",
        (time.monotonic() - written,),
    )
    print(f"{region}: all fresh after {time.monotonic() - written:.1f} s, one refresh of {longest}")


def assert_never_twice(ps: PgStream) -> None:
    """No two refreshes of one table that were committed were under way at the same time."""
    assert not ps.execute(
        "SELECT 1 FROM pgstream.pgs_refresh_history a JOIN pgstream.pgs_refresh_history b"
        " ON a.pgs_id = b.pgs_id AND a.refresh_id < b.refresh_id"
        " WHERE a.status = 'COMPLETED' AND b.status = 'COMPLETED'"
        " AND a.action <> 'NO_DATA' AND b.action <> 'NO_DATA'"
        " AND b.start_time < a.end_time"
    )


def _ask(dsn: str, name: str) -> None:
    """Refreshes in SQL, one after another, with both workers there to answer."""
    with connect(dsn) as connection:
        for _ in range(6):
            connection.execute("SELECT pgstream.refresh_stream_table(%s)", (name,))


def _write(ps: PgStream, seconds: float) -> None:
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    chance, number, end = random.Random(seed), 100, time.monotonic() + seconds
    while time.monotonic() < end:
        number += 1
        script(
            ps,
            f"INSERT INTO orders VALUES ({number}, '{chance.choice('nswe')}', {number % 17})",
            f"UPDATE orders SET amount = amount + 1 WHERE id % 7 = {chance.randrange(7)}",
            f"DELETE FROM orders WHERE id = {chance.randrange(100, number + 1)}",
        )
        time.sleep(0.01)
