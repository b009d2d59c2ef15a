"""parallel: how long a worker takes for many independent tables that all have changed, by how many
refreshes it runs at the same time.

One transaction changes all sources; the clock stops when the last stream table is committed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

from pgstream.bench.await_refreshes import Listener, listener
from pgstream.bench.place import SCHEMA
from pgstream.client import PgStream
from pgstream.database.quoting import compose, identifier
from pgstream.schedule.background import in_background
from pgstream.schedule.worker import Worker

Note = Callable[[str], None]

SOURCE = """
CREATE TABLE {table} AS SELECT i AS id, i % 50 AS g, i AS v FROM generate_series(1, 5000) i;
ALTER TABLE {table} ADD PRIMARY KEY (id);
ANALYZE {table}
"""
QUERY = "SELECT g, count(*) AS n, sum(v) AS total FROM {table} GROUP BY g"
SETTLE_SECONDS = 0.5
"""Until the worker has done what the last round left."""
WARMING, MEASURED = 2, 3
"""Rounds of a worker. In the first ones it opens connections and makes plans."""
JAVA_WARMING = 24
"""Rounds before all that count: Java compiles what it runs often, on the same processors."""
CHANGE = "UPDATE {table} SET v = v + 1 WHERE id <= 10"


def measure_parallel(
    stream: PgStream, tables: int, at_once: Sequence[int], cycles: int, note: Note
) -> dict[str, Any]:
    """A row for each number of refreshes at the same time, of `at_once`."""
    sources = [f"source_{number}" for number in range(tables)]
    note(f"{tables} tables")
    for source in sources:
        stream.connection.execute(_of(SOURCE, source))
        query = _of(QUERY, source).as_string()
        stream.create_stream_table(_reader(source), query, "on change")
    note("warming")
    _timed(stream, sources, max(at_once), JAVA_WARMING)
    times: dict[int, list[float]] = {count: [] for count in at_once}
    for cycle in range(cycles):  # in turns: Java gets faster all the time
        for count in at_once:
            note(f"{count} at once, {cycle + 1} of {cycles}")
            times[count] += _timed(stream, sources, count, MEASURED)
    results = [_row(count, times, at_once[0]) for count in at_once]
    exact = all(stream.verify(_reader(source)).exact for source in sources)
    return {"tables": tables, "rounds": cycles * MEASURED, "results": results, "exact": exact}


def _timed(stream: PgStream, sources: Sequence[str], count: int, rounds: int) -> list[float]:
    """Milliseconds of the rounds of one worker."""
    settings = replace(stream.settings, max_concurrent_refreshes=count)
    worker = Worker(stream.dsn, stream.sessions, settings=settings)
    with in_background(worker), listener(stream) as hears:
        for _ in range(WARMING):
            _round(stream, hears, sources)
        return [_round(stream, hears, sources) for _ in range(rounds)]


def _round(stream: PgStream, hears: Listener, sources: Sequence[str]) -> float:
    time.sleep(SETTLE_SECONDS)
    hears.forget()
    with stream.connection.transaction():
        for source in sources:
            stream.connection.execute(_of(CHANGE, source))
    started = time.perf_counter()
    hears.wait_for([_reader(source) for source in sources])
    return (time.perf_counter() - started) * 1000


def _row(count: int, times: Mapping[int, list[float]], first: int) -> dict[str, Any]:
    ms = median(times[count])
    return {
        "at_once": count,
        "ms": round(ms, 1),
        "times_faster": round(median(times[first]) / ms, 2),
    }


def _of(text: str, source: str) -> Any:
    return compose(text, table=identifier(SCHEMA, source))


def _reader(source: str) -> str:
    return f"{SCHEMA}.of_{source}"
