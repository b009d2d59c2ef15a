"""pgstream list"""

from __future__ import annotations

from pgstream.cli.options import AsJson, Dsn, Embedded, database
from pgstream.cli.output import emit, say, show_table


def list_tables(dsn: Dsn = None, embedded: Embedded = None, as_json: AsJson = False) -> None:
    """List the stream tables.

    Example: pgstream list --json
    """
    with database(dsn, embedded) as stream:
        rows = [
            {
                "name": row["name"],
                "mode": row["refresh_mode"],
                "schedule": row["schedule"] or "CALCULATED",
                "status": row["status"],
            }
            for row in stream.status()
        ]
    if as_json:
        emit(rows)
    elif rows:
        show_table(None, rows, ("name", "mode", "schedule", "status"))
    else:
        say("There are no stream tables. Create one with: pgstream create NAME QUERY")
