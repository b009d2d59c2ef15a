"""pgstream status"""

from __future__ import annotations

from pgstream.cli.options import AsJson, Dsn, Embedded, database
from pgstream.cli.output import emit, say, show_table
from pgstream.cli.unbuilt import say_unbuilt

HEADS = {
    "name": "name",
    "status": "status",
    "refresh_mode": "mode",
    "is_populated": "filled",
    "consecutive_errors": "errors",
    "schedule": "schedule",
    "data_timestamp": "data as of",
    "staleness": "age",
}


def status(dsn: Dsn = None, embedded: Embedded = None, as_json: AsJson = False) -> None:
    """Show how fresh each stream table is, and its errors.

    Example: pgstream status
    """
    with database(dsn, embedded) as stream:
        rows = [{**row, "schedule": row["schedule"] or "CALCULATED"} for row in stream.status()]
    if as_json:
        emit(rows)
    elif rows:
        shown = [{head: row[name] for name, head in HEADS.items()} for row in rows]
        show_table(None, shown, tuple(HEADS.values()))
        say_unbuilt(rows)
    else:
        say("There are no stream tables. Create one with: pgstream create NAME QUERY")
