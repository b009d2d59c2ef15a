"""writes: what capture costs those who write, by triggers and from the WAL, of all columns and of
some, against none.

Each writer runs its statements in a loop inside PostgreSQL, in one transaction: so neither the
network nor the disk's wait for a commit is measured. All ways take turns; a ratio is to the writes
without capture of the same round, for the machine may be busier in another one. Medians count. What
was captured is counted: a way that loses a row is not fast, but wrong.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pgstream.capture.names import find_buffer
from pgstream.capture.wal.ingest import ingest
from pgstream.capture.wal.slot import insert_lsn, make_slot
from pgstream.capture.wal.transition import switch
from pgstream.client import PgStream
from pgstream.database.connection import Connection, connect_as_user
from pgstream.database.quoting import Composed, Identifier, compose, identifier, literal

Note = Callable[[str], None]

TABLE = """
CREATE TABLE {table} (
    id int, writer int, region text, amount numeric(12,2), at timestamptz, note text)
"""
INDEX = "CREATE INDEX ON {table} (writer, id)"
FILL = (
    "INSERT INTO {table} SELECT i, {writer}, 'north', i, now(), 'a note of some words'"
    " FROM generate_series(1, {rows}) i"
)
INSERT_EACH = (
    "DO $$BEGIN FOR i IN 1 .. {rows} LOOP"
    " INSERT INTO {table} VALUES (i, {writer}, 'north', i, now(), 'a note of some words');"
    " END LOOP; END$$"
)
UPDATE_EACH = (
    "DO $$BEGIN FOR i IN 1 .. {rows} LOOP"
    " UPDATE {table} SET amount = amount + 1 WHERE writer = {writer} AND id = i;"
    " END LOOP; END$$"
)
UPDATE_ALL = "UPDATE {table} SET amount = amount + 1 WHERE writer = {writer}"
UPDATE_OTHER_EACH = UPDATE_EACH.replace("amount = amount + 1", "note = note || '!'")
UPDATE_OTHER_ALL = UPDATE_ALL.replace("amount = amount + 1", "note = note || '!'")


@dataclass(frozen=True, slots=True)
class Statement:
    text: str
    captured: int
    """How many rows for each that it writes."""
    on_rows: bool = False
    """Whether it needs rows to begin with."""
    other_columns: bool = False
    """Whether it changes none that a stream table of some columns reads."""


STATEMENTS = {
    "insert single rows": Statement(INSERT_EACH, 1),
    "update single rows": Statement(UPDATE_EACH, 2, on_rows=True),
    "update others, single": Statement(UPDATE_OTHER_EACH, 2, on_rows=True, other_columns=True),
    "insert in bulk": Statement(FILL, 1),
    "update in bulk": Statement(UPDATE_ALL, 2, on_rows=True),
    "update others in bulk": Statement(UPDATE_OTHER_ALL, 2, on_rows=True, other_columns=True),
}


@dataclass(frozen=True, slots=True)
class Way:
    """How a table is captured, and which of its columns a stream table reads."""

    capture: str
    columns: str

    @property
    def table(self) -> str:
        return f"written_{self.capture}_{self.columns}"

    @property
    def query(self) -> str:
        return f"SELECT {COLUMNS[self.columns]} FROM {self.table}"

    def wanted(self, statement: Statement) -> int:
        if self.columns == "none" or (self.columns == "some" and statement.other_columns):
            return 0
        return statement.captured


COLUMNS = {"all": "*", "some": "region, amount"}
NONE = Way("none", "none")
WAYS = (NONE, *(Way(by, columns) for by in ("trigger", "wal") for columns in COLUMNS))


def measure_writes(
    stream: PgStream, rows: int, writers: Sequence[int], cycles: int, note: Note
) -> dict[str, Any]:
    """`rows` for each writer. A server that cannot capture from the WAL is told, and left out."""
    obstacle = _prepare(stream)
    ways = [way for way in WAYS if obstacle is None or way.capture != "wal"]
    results = []
    for name in STATEMENTS:
        for count in writers:
            note(f"{name}, {count} at once")
            results += _compare(stream, name, ways, count, rows, cycles)
    return {"rows": rows, "cycles": cycles, "obstacle": obstacle, "results": results}


def _prepare(stream: PgStream) -> str | None:
    for way in WAYS:
        stream.connection.execute(_text(TABLE, way))
        stream.connection.execute(_text(INDEX, way))
        if way.capture == "wal":
            stream.connection.execute(_text("ALTER TABLE {table} REPLICA IDENTITY FULL", way))
        if way is not NONE:
            name = f"pgstream_bench.of_{way.table}"
            stream.create_stream_table(name, way.query, "1h", initialize=False)
    obstacles = [_to_wal(stream, way) for way in WAYS if way.capture == "wal"]
    return next(filter(None, obstacles), None)


def _to_wal(stream: PgStream, way: Way) -> str | None:
    """Why it cannot be captured from the WAL; None if it is."""
    relid = _relid(stream, way)
    ((problem, _),) = stream.own.execute(
        "SELECT * FROM pgstream._wal_obstacle(%s::bigint::oid)", (relid,)
    ).fetchall()
    if problem is None:
        make_slot(stream.own, 60_000)
        switch(stream.own, relid)
    return None if problem is None else str(problem)


def _compare(
    stream: PgStream, name: str, ways: Sequence[Way], writers: int, rows: int, cycles: int
) -> list[dict[str, Any]]:
    found: dict[Way, list[dict[str, Any]]] = {way: [] for way in ways}
    for way in ways:
        _fill(stream, STATEMENTS[name], way, writers, rows)
    for _ in range(cycles):
        for way in ways:
            found[way].append(_once(stream, STATEMENTS[name], way, writers, rows))
    return [_row(name, way, writers, rounds, found[NONE]) for way, rounds in found.items()]


def _fill(stream: PgStream, statement: Statement, way: Way, writers: int, rows: int) -> None:
    """Once for all rounds: what is filled in must be decoded, too, and that takes its time."""
    stream.connection.execute(_text("TRUNCATE {table}", way))
    if statement.on_rows:
        for writer in range(writers):
            stream.connection.execute(_text(FILL, way, writer, rows))
    _captured(stream, way)


def _row(
    name: str, way: Way, writers: int, rounds: list[dict[str, Any]], none: list[dict[str, Any]]
) -> dict[str, Any]:
    ratios = [each["ms"] / base["ms"] for each, base in zip(rounds, none, strict=True)]
    return {
        "statement": name,
        "writers": writers,
        "capture": way.capture,
        "columns": way.columns,
        "ms": round(statistics.median(each["ms"] for each in rounds), 1),
        "ratio": round(statistics.median(ratios), 2),
        "decode_ms": round(statistics.median(each["decode_ms"] for each in rounds), 1),
        "exact": all(each["exact"] for each in rounds),
    }


def _once(
    stream: PgStream, statement: Statement, way: Way, writers: int, rows: int
) -> dict[str, Any]:
    stream.connection.execute(_text("VACUUM {table}", way))
    ms = _timed(stream, [_text(statement.text, way, w, rows) for w in range(writers)])
    decode_ms, count = _captured(stream, way)
    is_exact = count == way.wanted(statement) * writers * rows
    return {"ms": ms, "decode_ms": decode_ms, "exact": is_exact}


def _timed(stream: PgStream, texts: Iterable[Composed]) -> float:
    """How long it takes until all are done, each on its own connection."""
    connections = []
    for text in texts:
        connections.append((connect_as_user(stream.dsn), text))
    threads = [threading.Thread(target=_run, args=each) for each in connections]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ms = (time.perf_counter() - started) * 1000
    for connection, _ in connections:
        connection.close()
    return ms


def _run(connection: Connection, text: Composed) -> None:
    connection.execute(text)


def _captured(stream: PgStream, way: Way) -> tuple[float, int]:
    """How long decoding takes, which is no writer's time, and how many rows the buffer had; it is
    empty then."""
    if way is NONE:
        return 0.0, 0
    started = time.perf_counter()
    if way.capture == "wal":
        ingest(stream.own, insert_lsn(stream.own))
    ms = (time.perf_counter() - started) * 1000 if way.capture == "wal" else 0.0
    buffer = _buffer(stream, way)
    ((count,),) = stream.own.execute(
        compose("SELECT count(*) FROM {buffer}", buffer=buffer)
    ).fetchall()
    stream.own.execute(compose("TRUNCATE {buffer}", buffer=buffer))
    return ms, int(count)


def _text(text: str, way: Way, writer: int = 0, rows: int = 0) -> Composed:
    table = identifier("pgstream_bench", way.table)
    return compose(text, table=table, writer=literal(writer), rows=literal(rows))


def _buffer(stream: PgStream, way: Way) -> Identifier:
    found = find_buffer(stream.own, _relid(stream, way))
    assert found is not None
    return found


def _relid(stream: PgStream, way: Way) -> int:
    ((relid,),) = stream.execute("SELECT %s::regclass::oid::bigint", (way.table,))
    return int(relid)
