"""plans: what the plans of a few typical queries cost, by the size of the change.

All of them are refreshed after each change, so that they meet the same machine, and a Java that is
as warm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
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
Row = dict[str, Any]
WARMING = 3
"""Rounds before those that count: Java compiles what it runs often."""


def measure_plans(
    stream: PgStream,
    rows: int,
    changes: Sequence[int],
    chosen: Sequence[str],
    cycles: int,
    note: Note,
    warming: int = WARMING,
) -> dict[str, Any]:
    """One document: the bare Spark action, and a row per scenario and size of change."""
    note(f"{rows} rows")
    groups = max(rows // 100, 20)
    _populate(stream, rows, groups)
    for name in chosen:
        note(f"{name}: first population")
        create(stream, name, SCENARIOS[name])

    def refreshed(size: int, times: int) -> dict[str, list[Both]]:
        done: dict[str, list[Both]] = {name: [] for name in chosen}
        for number in range(1, times + 1):
            note(f"{size} changed: round {number} of {times}")
            _change(stream, size, groups)
            for name in chosen:
                done[name].append(refresh_both(stream, name))
        return done

    refreshed(changes[0], warming)
    bare: list[float] = []
    found: list[Row] = []
    for size in changes:
        done = refreshed(size, cycles)
        bare.append(bare_action_ms(stream))
        note(f"{size} changed: compared, and in full")
        compared = {name: compare(stream, name) for name in chosen}
        _change(stream, size, groups)
        found += (
            _row(name, size, concluded(stream, name, done[name], compared[name])) for name in chosen
        )
    found.sort(key=lambda row: chosen.index(row["scenario"]))
    return {
        "rows": rows,
        "cycles": cycles,
        "bare_spark_action_ms": round(median(bare), 1),
        "results": [_compared(each, found) for each in found],
    }


def is_wrong(row: Row) -> bool:
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


def _row(name: str, changes: int, measured: Measured) -> Row:
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


def _compared(row: Row, found: Sequence[Row]) -> Row:
    """With the ratio to the plain join of the same size, if that was measured."""
    joins = [
        each["ms"]
        for each in found
        if (each["scenario"], each["changes"]) == ("join", row["changes"])
    ]
    return {**row, "times_join": round(row["ms"] / joins[0], 2) if joins else None}
