"""What the scripts share: a graph of two stream tables, and a refresh that may lose Spark."""

from __future__ import annotations

import time
from collections.abc import Callable

from helpers import assert_exact, script
from pgstream.client import PgStream
from pgstream.errors import PgStreamError
from pgstream.settings import Settings

SECONDS = 60
"""Far more than an error needs, far less than for ever."""


def settings(**more: object) -> Settings:
    return Settings(
        differential_max_change_ratio=0.0,
        min_schedule_seconds=1,
        spark_driver_memory="512m",
        **more,  # type: ignore[arg-type]
    )


def with_graph(ps: PgStream, schedule: str = "1h") -> None:
    script(
        ps,
        "CREATE TABLE t (id int PRIMARY KEY, g int, x int)",
        "CREATE TABLE names (g int PRIMARY KEY, name text)",
        "INSERT INTO t SELECT i, i % 50, i FROM generate_series(1, 900) i",
        "INSERT INTO names SELECT i, 'group ' || i FROM generate_series(0, 40) i",
    )
    ps.create_stream_table(
        "low",
        "SELECT n.name, sum(t.x) AS total, avg(t.x) AS mean, count(*) AS n"
        " FROM t JOIN names n USING (g) GROUP BY n.name",
        schedule,
    )
    ps.create_stream_table(
        "top", "SELECT l.total, t.id FROM low l JOIN t ON l.name = 'group ' || t.g::text", schedule
    )
    assert_exact(ps, "low", "top")


def change(ps: PgStream, number: int) -> None:
    script(
        ps,
        f"UPDATE t SET x = x + {number + 1} WHERE id % 3 = {number % 3}",
        f"UPDATE t SET g = (g + 1) % 50 WHERE id % 40 = {number % 40}",
        f"DELETE FROM t WHERE id = {number + 1}",
        f"INSERT INTO t VALUES ({10_000 + number}, {number}, {number})",
        f"UPDATE names SET name = name || '!' WHERE g = {number % 40}",
    )


def outcome(refresh: Callable[[], object]) -> str:
    """The code of the error, or OK. Any other error ends the script."""
    started = time.monotonic()
    try:
        refresh()
    except PgStreamError as error:
        said = error.code
        print(f"    {error}")
    else:
        said = "OK"
    seconds = time.monotonic() - started
    print(f"    {said} after {seconds:.1f} s", flush=True)
    assert seconds < SECONDS, "the caller waited too long"
    return said


def refresh_exact_again(ps: PgStream, name: str = "top") -> None:
    ps.refresh_stream_table(name)
    assert_exact(ps, "low", "top")
    assert ps.table(name).status == "ACTIVE"
    assert ps.table(name).consecutive_errors == 0
