"""pgstream history"""

from __future__ import annotations

from typing import Annotated

import typer

from pgstream.cli.options import AsJson, Dsn, Embedded, Name, database
from pgstream.cli.output import emit, say, show_table

COLUMNS = (
    "start_time",
    "action",
    "status",
    "initiated_by",
    "reason",
    "changes_read",
    "rows_read",
    "rows_inserted",
    "rows_deleted",
    "spark_actions",
    "analysis_ms",
    "planning_ms",
    "running_ms",
    "ms",
    "error_message",
)


def history(
    name: Name,
    limit: Annotated[int, typer.Option(help="How many refreshes.", min=1)] = 20,
    dsn: Dsn = None,
    embedded: Embedded = None,
    as_json: AsJson = False,
) -> None:
    """Show the refreshes of a stream table, the newest first.

    Example: pgstream history totals --limit 5
    """
    with database(dsn, embedded) as stream:
        rows = stream.history(name, limit)
    if as_json:
        emit(rows)
    elif not rows:
        say(f"{name} has never been refreshed.")
    else:
        for row in rows:
            ended = row["end_time"]
            row["ms"] = (ended - row["start_time"]).total_seconds() * 1000 if ended else None
        show_table(None, rows, COLUMNS)
