"""Alerts: what operators want to hear of, on the channel pg_stream_alert, as JSON.

An alert is a value; `send` makes it a part of the connection's transaction. Never in a transaction
of somebody who writes to a source: NOTIFY makes commits wait for each other.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from pgstream.catalog.records import RefreshResult, StreamTable
from pgstream.database.connection import Connection
from pgstream.errors import PgStreamError


@dataclass(frozen=True, slots=True)
class Alert:
    event: str
    fields: dict[str, Any] = field(default_factory=dict)


def send(connection: Connection, alert: Alert) -> None:
    connection.execute(
        "SELECT pgstream._alert(%s, %s::jsonb)", (alert.event, json.dumps(alert.fields))
    )


def refresh_completed(result: RefreshResult) -> Alert:
    took = round(result.compute_ms + result.apply_ms, 1)
    return Alert("refresh_completed", {"stream_table": result.name, **_work(result), "ms": took})


def _work(result: RefreshResult) -> dict[str, Any]:
    return {name: value for name, value in result.work.items() if name != "name"}


def refresh_failed(name: str, error: PgStreamError) -> Alert:
    fields = {"stream_table": name, "code": error.code, "message": error.sentence}
    return Alert("refresh_failed", {**fields, "transient": error.transient})


def auto_suspended(table: StreamTable, error: PgStreamError) -> Alert:
    """The scheduler leaves the table alone from now on."""
    fields = {"stream_table": table.full_name, "errors": table.consecutive_errors}
    return Alert("auto_suspended", {**fields, "code": error.code, "message": error.sentence})


def resumed(name: str) -> Alert:
    return Alert("resumed", {"stream_table": name})


def reinitialize_needed(table: StreamTable) -> Alert:
    fields = {"stream_table": table.full_name, "reason": table.reinit_reason}
    return Alert("reinitialize_needed", fields)


def stale_data(table: StreamTable, seconds: float) -> Alert:
    fields = {"staleness_seconds": round(seconds, 1), "schedule": table.schedule}
    return Alert("stale_data", {"stream_table": table.full_name, **fields})


def scheduler_falling_behind(table: StreamTable, seconds: float) -> Alert:
    """The table was due so long ago, and waits for its turn: workers have more to do than they
    can."""
    fields = {"behind_seconds": round(seconds, 1), "schedule": table.schedule}
    return Alert("scheduler_falling_behind", {"stream_table": table.full_name, **fields})


def slot_lag_warning(slot: str, message: str) -> Alert:
    return Alert("slot_lag_warning", {"slot_name": slot, "message": message})


def buffer_growth_warning(source: str, rows: int) -> Alert:
    return Alert("buffer_growth_warning", {"source_table": source, "pending_rows": rows})
