"""plans: what the plans of a few typical queries cost, by the size of the change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from typing import Any

from pgstream.bench.measure import Measured, bare_action_ms, create, drop, measure
from pgstream.bench.scenarios import (
    DELETE,
    DIMENSION,
    FLIP,
    INSERT,
    SCENARIOS,
    TABLES,
    UPDATE,
    shares,
)
from pgstream.client import PgStream

Note = Callable[[str], None]


def measure_plans(
    stream: PgStream,
    rows: int,
    changes: Sequence[int],
    chosen: Sequence[str],
    cycles: int,
    note: Note,
) -> dict[str, Any]:
    """One document: the bare Spark action, and a row per scenario and size of change."""
    note(f"{rows} rows")
    groups = max(rows // 100, 20)
    _populate(stream, rows, groups)
    bare = [bare_action_ms(stream)]
    found: list[dict[str, Any]] = []
    for name in chosen:
        note(f"{name}: first population")
        create(stream, name, SCENARIOS[name])
        for size in changes:
            note(f"{name}: {size} changed")
            measured = measure(stream, name, partial(_change, stream, size, groups), cycles)
            found.append(_row(name, size, measured))
        drop(stream, name)
        bare.append(bare_action_ms(stream))
    return {
        "rows": rows,
        "cycles": cycles,
        "bare_spark_action_ms": round(median(bare[1:]), 1),
        "results": [_compared(each, found) for each in found],
    }


def is_wrong(row: dict[str, Any]) -> bool:
    return not (row["exact"] and row["rows"] and row["changed"])


def _populate(stream: PgStream, rows: int, groups: int) -> None:
    stream.execute(TABLES)
    stream.connection.execute(DIMENSION, {"groups": groups})
    stream.connection.execute(INSERT, {"n": rows, "groups": groups})
    stream.execute("ANALYZE src, dim")


def _change(stream: PgStream, changes: int, groups: int) -> None:
    updated, deleted, inserted = shares(changes)
    top = stream.execute("SELECT max(id) FROM src")[0][0]
    stream.connection.execute(FLIP, {"groups": groups})
    for statement, n in ((UPDATE, updated), (DELETE, deleted), (INSERT, inserted)):
        stream.connection.execute(statement, {"n": n, "top": top, "groups": groups})


def _row(name: str, changes: int, measured: Measured) -> dict[str, Any]:
    result = measured.result
    return {
        "scenario": name,
        "changes": changes,
        "postgres_ms": round(measured.postgres_ms, 1),
        "full_ms": round(measured.full_ms, 1),
        "ms": round(measured.ms, 1),
        "action": result.action.value,
        "reason": result.reason,
        "rows_read": result.rows_read,
        "rows_written": measured.rows_written,
        "spark_actions": result.spark_actions,
        "times_full": round(measured.times_full, 2),
        "rows": measured.rows,
        "exact": not measured.wrong,
        "changed": measured.has_changed,
    }


def _compared(row: dict[str, Any], found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """With the ratio to the plain join of the same size, if that was measured."""
    joins = [
        each["ms"]
        for each in found
        if (each["scenario"], each["changes"]) == ("join", row["changes"])
    ]
    return {**row, "times_join": round(row["ms"] / joins[0], 2) if joins else None}
