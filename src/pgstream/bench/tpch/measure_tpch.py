"""measure_tpch: TPC-H's queries as stream tables, after one round of changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pgstream.bench.measure import Measured, bare_action_ms, create, measure
from pgstream.bench.tpch.change import change
from pgstream.bench.tpch.load import load
from pgstream.bench.tpch.sections import queries
from pgstream.client import PgStream
from pgstream.errors import PgStreamError

Note = Callable[[str], None]
Row = dict[str, Any]
KEYS = (
    "query postgres_ms full_ms ms action reason differential rows_read rows_written spark_actions"
    " rows exact error".split()
)


def measure_tpch(
    stream: PgStream,
    scale: float,
    share: float,
    tables: Sequence[str],
    chosen: Sequence[str],
    note: Note,
) -> dict[str, Any]:
    """One document. A query that fails has its error in its row."""
    note(f"scale factor {scale}: loading")
    load(stream, scale)
    failed: dict[str, Row] = {}
    for name in chosen:
        note(f"{name}: first population")
        try:
            create(stream, name, queries()[name])
        except PgStreamError as error:
            failed[name] = _failed(name, error)
    note(f"changing {share} of {', '.join(tables)}")
    change(stream, tables, share)
    found = [failed.get(name) or _row(stream, name, note) for name in chosen]
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
        "changed": sum(row["rows_written"] > 0 for row in done),
    }


def _row(stream: PgStream, name: str, note: Note) -> Row:
    note(f"{name}: refreshes")
    try:
        measured = measure(stream, name, lambda: None, 1)
    except PgStreamError as error:
        return _failed(name, error)
    return _measured(name, measured)


def _measured(name: str, measured: Measured) -> Row:
    result = measured.result
    values = (
        name,
        round(measured.postgres_ms, 1),
        round(measured.full_ms, 1),
        round(measured.ms, 1),
        result.action.value,
        result.reason,
        measured.is_differential,
        result.rows_read,
        measured.rows_written,
        result.spark_actions,
        measured.rows,
        not measured.wrong,
        None,
    )
    return dict(zip(KEYS, values, strict=True))


def _failed(name: str, error: PgStreamError) -> Row:
    return {**dict.fromkeys(KEYS), "query": name, "error": f"{error.code}: {error.message}"}
