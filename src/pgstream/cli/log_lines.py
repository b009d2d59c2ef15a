"""The log of a worker on stderr: a line per event, for people or as JSON."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rich.text import Text

from pgstream.cli.output import complain

if TYPE_CHECKING:
    from pgstream.schedule.events import Event

_STYLES = {"failure": "red", "disconnected": "yellow", "notice": "yellow", "ready": "green"}


class LogLines:
    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json

    def __call__(self, event: Event) -> None:
        self.line(event.kind, event.line, event.fields)

    def greet(self, database: str, host: str) -> None:
        line = (
            f"pgstream worker for database {database} on {host or 'localhost'}; ask for a refresh"
            " with SELECT pgstream.refresh_stream_table('name')"
        )
        self.line("hello", line, {"database": database, "host": host})

    def line(self, kind: str, line: str, fields: dict[str, Any] | None = None) -> None:
        if self.as_json:
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            document = {"time": now, "event": kind, "line": line, **(fields or {})}
            print(json.dumps(document, ensure_ascii=False), file=sys.stderr, flush=True)
        else:
            clock = datetime.now().astimezone().strftime("%H:%M:%S ")
            complain(Text.assemble((clock, "dim"), (line, _STYLES.get(kind, ""))))
