"""measure: a stream table beside PostgreSQL's own materialized view of the same query.

Both are refreshed after the same changes, then compared by EXCEPT ALL both ways.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from pgstream.bench.place import SCHEMA
from pgstream.catalog.records import Action, RefreshResult
from pgstream.client import PgStream
from pgstream.database.quoting import Composed, compose, identifier, joined, raw

BARE = """
SELECT a.k, count(*) AS n, sum(b.v) AS total
FROM VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd') AS a(k, name)
JOIN VALUES (1, 10), (1, 20), (2, 30), (3, 40), (5, 50) AS b(k, v) ON a.k = b.k
GROUP BY a.k
"""

Both = tuple[float, RefreshResult]
"""The milliseconds of PostgreSQL's own refresh, and ours."""


@dataclass(frozen=True)
class Measured:
    """Milliseconds are medians; the counts are those of the refresh of median length."""

    postgres_ms: float
    full_ms: float
    result: RefreshResult
    has_changed: bool
    """Whether a refresh has changed the stream table."""
    rows: int
    """How many rows the stream table has in the end."""
    wrong: int
    """How many rows differ from PostgreSQL's."""

    @property
    def ms(self) -> float:
        return self.result.total_ms

    @property
    def times_full(self) -> float:
        return self.ms / self.full_ms

    @property
    def rows_written(self) -> int:
        return self.result.rows_inserted + self.result.rows_deleted

    @property
    def is_differential(self) -> bool:
        return self.result.action in (Action.DIFFERENTIAL, Action.NO_DATA)


def create(stream: PgStream, name: str, query: str) -> None:
    """The stream table, and the materialized view."""
    stream.create_stream_table(f"{SCHEMA}.{name}", query, "1h")
    stream.connection.execute(
        compose("CREATE MATERIALIZED VIEW {v} AS {q}", v=_own(name), q=raw(query))
    )


def refresh_both(stream: PgStream, name: str) -> Both:
    return _refresh_own(stream, name), stream.refresh_stream_table(f"{SCHEMA}.{name}")


def concluded(
    stream: PgStream, name: str, done: Sequence[Both], compared: tuple[int, int]
) -> Measured:
    """After a full refresh. Those that were full by decision count as full, too."""
    own, results = [ms for ms, _ in done], [result for _, result in done]
    own.append(_refresh_own(stream, name))
    last = stream.refresh_stream_table(f"{SCHEMA}.{name}", full=True)
    full = [last, *(result for result in results if result.action is Action.FULL)]
    middle = sorted(results, key=lambda result: result.total_ms)[len(results) // 2]
    return Measured(
        median(own),
        median(result.total_ms for result in full),
        middle,
        any(result.rows_inserted + result.rows_deleted for result in results),
        *compared,
    )


def bare_action_ms(stream: PgStream, times: int = 5) -> float:
    """What Spark takes for two small inputs, joined and grouped: the floor of a refresh."""
    return median(timed(lambda: stream.sessions.small.sql(BARE).toArrow()) for _ in range(times))


def _own(name: str) -> Composed:
    return compose("{v}", v=identifier(SCHEMA, f"own_{name}"))


def _refresh_own(stream: PgStream, name: str) -> float:
    statement = compose("REFRESH MATERIALIZED VIEW {v}", v=_own(name))
    return timed(lambda: stream.connection.execute(statement))


def timed(run: Callable[[], object]) -> float:
    """Milliseconds."""
    started = time.perf_counter()
    run()
    return (time.perf_counter() - started) * 1000


def compare(stream: PgStream, name: str) -> tuple[int, int]:
    """How many rows the stream table has, and how many only one of the two has."""
    columns = joined(identifier(column) for column in stream.table(f"{SCHEMA}.{name}").columns)
    ours, own = (
        compose("SELECT {c} FROM {t}", c=columns, t=table)
        for table in (identifier(SCHEMA, name), _own(name))
    )
    return (
        _count(stream, ours),
        _count(stream, _except(ours, own)) + _count(stream, _except(own, ours)),
    )


def _except(first: Composed, second: Composed) -> Composed:
    return compose("({a}) EXCEPT ALL ({b})", a=first, b=second)


def _count(stream: PgStream, query: Composed) -> int:
    row = stream.connection.execute(compose("SELECT count(*) FROM ({q}) q", q=query)).fetchone()
    assert row is not None
    return int(row[0])
