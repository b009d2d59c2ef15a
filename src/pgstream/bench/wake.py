"""wake: from a commit to what a reader sees, for a stream table `on change` and a warm worker.

One row is changed at a time, at moments that follow no clock. Then many write as fast as they can:
with a table that is refreshed meanwhile, and with one that is only captured.

Writers loop inside PostgreSQL, with a commit for each row: neither the network nor Python, in which
the worker runs, is measured.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from statistics import median, quantiles
from typing import Any

from pgstream.bench.await_refreshes import Listener, listener
from pgstream.bench.measure import BARE, timed
from pgstream.bench.place import SCHEMA
from pgstream.client import PgStream
from pgstream.database.connection import connect_as_user
from pgstream.schedule.background import in_background
from pgstream.schedule.worker import Worker

Note = Callable[[str], None]

NAME = f"{SCHEMA}.totals"
SOURCE = """
CREATE TABLE orders (id bigserial PRIMARY KEY, region int NOT NULL, amount int NOT NULL);
CREATE INDEX ON orders (region);
INSERT INTO orders (region, amount) SELECT i % 100, i % 1000 FROM generate_series(1, 100000) i;
ANALYZE orders
"""
QUERY = "SELECT region, count(*) AS n, sum(amount) AS total FROM orders GROUP BY region"
INSERT = "INSERT INTO pgstream_bench.orders (region, amount) VALUES (%s, 1)"
COUNT = "SELECT n FROM pgstream_bench.totals WHERE region = %s"
WRITE = """
DO $$BEGIN
    FOR i IN 1 .. {rows} LOOP
        INSERT INTO pgstream_bench.orders (region, amount) VALUES (i % 100, 1);
        COMMIT;
    END LOOP;
END$$
"""
PAUSE_SECONDS = (0.1, 0.3)
SETTLE_SECONDS = 0.5
"""Until the worker knows of a schedule, and has done what the last round left."""
ROUNDS = 3
ON_CHANGE, IDLE = "on change", "24h"


def measure_wake(
    stream: PgStream, changes: int, writers: int, rows: int, note: Note, warm: int = 30
) -> dict[str, Any]:
    """`rows` for each writer; `warm` changes come first, and do not count."""
    note("100000 rows")
    stream.execute(SOURCE)
    stream.create_stream_table(NAME, QUERY, ON_CHANGE)
    worker = Worker(stream.dsn, stream.sessions, settings=stream.settings)
    with in_background(worker), listener(stream) as hears:
        note("warming up")
        _latencies(stream, hears, warm)
        note(f"{changes} changes, and a bare Spark action after each")
        latencies, bare = _latencies(stream, hears, changes)
        throughput = _throughput(stream, writers, rows, note)
    return {
        "changes": changes,
        "writers": writers,
        "rows": rows,
        "results": [
            _spread("commit to visible", latencies),
            _spread("a bare Spark action", bare),
        ],
        "times_bare": round(median(latencies) / median(bare), 2),
        "commits_per_second": {way: round(rate) for way, rate in throughput.items()},
        "throughput_ratio": round(throughput[ON_CHANGE] / throughput[IDLE], 2),
        "exact": stream.verify(NAME).exact,
    }


def _latencies(stream: PgStream, hears: Listener, times: int) -> tuple[list[float], list[float]]:
    moments = random.Random(times)
    found, bare = [], []
    with connect_as_user(stream.dsn) as client:
        for _ in range(times):
            time.sleep(moments.uniform(*PAUSE_SECONDS))
            found.append(_latency(client, hears, moments.randrange(100)))
            bare.append(timed(lambda: stream.sessions.small.sql(BARE).toArrow()))
    return found, bare


def _latency(client: Any, hears: Listener, region: int) -> float:
    """Milliseconds until the row of the region counts one more."""
    ((wanted,),) = client.execute(COUNT, (region,)).fetchall()
    hears.forget()
    client.execute(INSERT, (region,))
    started = time.perf_counter()
    while client.execute(COUNT, (region,)).fetchall() != [(wanted + 1,)]:
        hears.wait_for([NAME])
    return (time.perf_counter() - started) * 1000


def _throughput(stream: PgStream, writers: int, rows: int, note: Note) -> dict[str, float]:
    """Commits per second; the ways take turns, and the median counts."""
    found: dict[str, list[float]] = {IDLE: [], ON_CHANGE: []}
    for number in range(ROUNDS):
        for way, rates in found.items():
            note(f"{writers} writers, schedule {way}, round {number + 1} of {ROUNDS}")
            stream.alter_stream_table(NAME, schedule=way)
            time.sleep(SETTLE_SECONDS)
            rates.append(writers * rows / _write(stream.dsn, writers, rows))
    return {way: median(rates) for way, rates in found.items()}


def _write(dsn: str, writers: int, rows: int) -> float:
    """Seconds until all are done, each on its own connection."""
    connections = [connect_as_user(dsn) for _ in range(writers)]
    text = WRITE.replace("{rows}", str(rows)).encode()
    threads = [threading.Thread(target=each.execute, args=(text,)) for each in connections]
    seconds = timed(lambda: _run(threads)) / 1000
    for connection in connections:
        connection.close()
    return seconds


def _run(threads: Sequence[threading.Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _spread(what: str, values: Sequence[float]) -> dict[str, Any]:
    last = quantiles(values, n=100, method="inclusive")[-1] if len(values) > 1 else values[0]
    return {
        "what": what,
        "median_ms": round(median(values), 1),
        "p99_ms": round(last, 1),
        "most_ms": round(max(values), 1),
    }
