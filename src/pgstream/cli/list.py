"""pgstream list"""

from __future__ import annotations

from pgstream.cli.options import AsJson, Dsn, Embedded, database
from pgstream.cli.output import emit, say, show_table
from pgstream.cli.unbuilt import say_unbuilt

HEADS = ("name", "mode", "schedule", "status", "filled")


def list_tables(dsn: Dsn = None, embedded: Embedded = None, as_json: AsJson = False) -> None:
    """List the stream tables.

    Example: pgstream list --json
    """
    with database(dsn, embedded) as stream:
        found = stream.status()
    rows = [
        {
            "name": row["name"],
            "mode": row["refresh_mode"],
            "schedule": row["schedule"] or "CALCULATED",
            "status": row["status"],
            "filled": row["is_populated"],
        }
        for row in found
    ]
    if as_json:
        emit(rows)
    elif rows:
        show_table(None, rows, HEADS)
        say_unbuilt(found)
    else:
        say("There are no stream tables. Create one with: pgstream create NAME QUERY")
