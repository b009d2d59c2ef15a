"""pgstream repair"""

from __future__ import annotations

from dataclasses import asdict

import typer

from pgstream.cli.options import AsJson, Dsn, Embedded
from pgstream.cli.output import emit, say, show_table
from pgstream.cli.unrequired import opened

COLUMNS = ("name", "fault", "error")


def repair(dsn: Dsn = None, embedded: Embedded = None, as_json: AsJson = False) -> None:
    """Mend the catalog after a restore, an upgrade of the server, or lost triggers.

    Stream tables are found by name, what they read by their queries; capture is installed again,
    and their next refresh computes everything from scratch. What is whole stays as it is. The exit
    code is 1 if a stream table could not be repaired.

    Example: pgstream repair --dsn postgresql://me@localhost/shop
    """
    with opened(dsn, embedded) as stream:
        rows = [asdict(each) for each in stream.repair()]
    if as_json:
        emit(rows)
    elif rows:
        show_table(None, rows, COLUMNS)
    else:
        say("All is whole.")
    if any(row["error"] for row in rows):
        raise typer.Exit(1)
