"""What a worker tells: a kind, a line for people, and the same as fields for programs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pgstream.catalog.records import Action, RefreshResult
from pgstream.refresh.known import as_known


@dataclass(frozen=True, slots=True)
class Event:
    kind: str
    line: str
    fields: dict[str, Any] = field(default_factory=dict)


Report = Callable[[Event], None]


def refreshed(result: RefreshResult) -> Event:
    fields = {**result.work, "total_ms": round(result.total_ms, 1)}
    return Event("refresh", f"{result.name} {result.action} {_work(result)}", fields)


def results_told(results: Iterable[RefreshResult], targets: Iterable[str]) -> Iterator[Event]:
    """Of the tables that were due, and of those upstream that had changes."""
    due = set(targets)
    for result in results:
        if result.name in due or result.action not in (Action.NO_DATA, Action.SKIP):
            yield refreshed(result)


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


def idle_tables(names: Collection[str]) -> Event:
    tables = "1 stream table has" if len(names) == 1 else f"{len(names)} stream tables have"
    return Event("idle", f"{tables} no changes", {"names": sorted(names)})


def failed(name: str, error: Exception) -> Event:
    known = as_known(error)
    line = f"{name} FAILED [{known.code}] {known.sentence.splitlines()[0]}"
    return Event("failure", line, {"name": name, "code": known.code, "message": str(known)})
