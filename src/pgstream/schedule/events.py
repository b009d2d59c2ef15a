"""What a worker tells: a kind, a line for people, and the same as fields for programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pgstream.catalog.records import Action, RefreshResult
from pgstream.database.connection import DatabaseError
from pgstream.database.sqlstates import translate
from pgstream.errors import PgStreamError


@dataclass(frozen=True, slots=True)
class Event:
    kind: str
    line: str
    fields: dict[str, Any] = field(default_factory=dict)


Report = Callable[[Event], None]


def refreshed(result: RefreshResult) -> Event:
    fields = {**result.work, "total_ms": round(result.total_ms, 1)}
    return Event("refresh", f"{result.name} {result.action} {_work(result)}", fields)


def _work(result: RefreshResult) -> str:
    rows = f"+{result.rows_inserted} −{result.rows_deleted} rows"
    match result.action:
        case Action.SKIP:
            return result.reason
        case Action.NO_DATA:
            return f"{result.reason}, {result.total_ms:.0f} ms"
        case Action.DIFFERENTIAL:
            return f"{result.changes_read} changes, {rows}, {result.total_ms:.0f} ms"
        case _:
            return f"({result.reason}), {rows}, {result.total_ms:.0f} ms"


def failed(name: str, error: Exception) -> Event:
    known = as_known(error)
    code = known.code if known else None
    message = known.sentence if known else f"{type(error).__name__}: {error}"
    line = f"{name} FAILED {f'[{code}] ' if code else ''}{message.splitlines()[0]}"
    return Event("failure", line, {"name": name, "code": code, "message": str(known or error)})


def as_known(error: Exception) -> PgStreamError | None:
    if isinstance(error, DatabaseError):
        return translate(error)
    return error if isinstance(error, PgStreamError) else None
