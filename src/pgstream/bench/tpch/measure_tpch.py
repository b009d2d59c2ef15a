"""measure_tpch: TPC-H's queries as stream tables, after rounds of changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from pgstream.bench.measure import (
    Both,
    Measured,
    bare_action_ms,
    compare,
    concluded,
    create,
    refresh_both,
)
from pgstream.bench.tpch.change import change
from pgstream.bench.tpch.load import load
from pgstream.bench.tpch.sections import queries
from pgstream.client import PgStream
from pgstream.errors import PgStreamError

Note = Callable[[str], None]
Row = dict[str, Any]
KEYS = (
    "query postgres_ms full_ms ms analysis_ms planning_ms running_ms action reason differential"
    " rows_read rows_written spark_actions rows exact changed error".split()
)


def measure_tpch(
    stream: PgStream,
    scale: float,
    share: float,
    tables: Sequence[str],
    chosen: Sequence[str],
    cycles: int,
    note: Note,
) -> dict[str, Any]:
    """One document. A query that fails has its error in its row. All queries are refreshed after
    each round of changes: Spark's first refresh of a query is slow, since Java compiles."""
    note(f"scale factor {scale}: loading")
    load(stream, scale)
    failed: dict[str, Row] = {}
    for name in chosen:
        note(f"{name}: first population")
        failed |= _tried(name, partial(create, stream, name, queries()[name]))
    done: dict[str, list[Both]] = {name: [] for name in chosen}
    for number in range(1, cycles + 1):
        note(f"round {number}: changing {share} of {', '.join(tables)}")
        change(stream, tables, share)
        for name in (name for name in chosen if name not in failed):
            note(f"{name}: refreshes")
            failed |= _tried(name, partial(_refresh, stream, name, done[name]))
    found = [failed.get(name) or _row(stream, name, done[name], note) for name in chosen]
    return {
        "scale": scale,
        "share": share,
        "changed": list(tables),
        "bare_spark_action_ms": round(bare_action_ms(stream), 1),
        "results": found,
        "summary": summary(found),
    }


def summary(rows: Sequence[Row]) -> dict[str, int]:
    """How many of the queries …"""
    done = [row for row in rows if row["error"] is None]
    return {
        "queries": len(rows),
        "exact": sum(row["exact"] for row in done),
        "differential": sum(row["differential"] for row in done),
        "faster_than_full": sum(row["ms"] < row["full_ms"] for row in done),
        "faster_than_postgres": sum(row["ms"] < row["postgres_ms"] for row in done),
        "not_empty": sum(row["rows"] > 0 for row in done),
        "changed": sum(row["changed"] for row in done),
    }


def _tried(name: str, run: Callable[[], object]) -> dict[str, Row]:
    """The query's row if it fails."""
    try:
        run()
    except PgStreamError as error:
        return {name: _failed(name, error)}
    return {}


def _refresh(stream: PgStream, name: str, done: list[Both]) -> None:
    done.append(refresh_both(stream, name))


def _row(stream: PgStream, name: str, done: Sequence[Both], note: Note) -> Row:
    note(f"{name}: compared, and in full")
    try:
        return _measured(name, concluded(stream, name, done, compare(stream, name)))
    except PgStreamError as error:
        return _failed(name, error)


def _measured(name: str, measured: Measured) -> Row:
    result = measured.result
    values = (
        name,
        round(measured.postgres_ms, 1),
        round(measured.full_ms, 1),
        round(measured.ms, 1),
        round(result.analysis_ms, 1),
        round(result.planning_ms, 1),
        round(result.running_ms, 1),
        result.action.value,
        result.reason,
        measured.is_differential,
        result.rows_read,
        measured.rows_written,
        result.spark_actions,
        measured.rows,
        not measured.wrong,
        measured.has_changed,
        None,
    )
    return dict(zip(KEYS, values, strict=True))


def _failed(name: str, error: PgStreamError) -> Row:
    return {**dict.fromkeys(KEYS), "query": name, "error": f"{error.code}: {error.message}"}
