"""pgstream health"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from pgstream.cli.errors import report
from pgstream.cli.options import AsJson, Dsn, Embedded, database
from pgstream.cli.output import emit, say, show_table
from pgstream.errors import PgStreamError

if TYPE_CHECKING:
    from pgstream.monitor.health import Finding

COLUMNS = ("severity", "check", "subject", "message", "hint")


def health(dsn: Dsn = None, embedded: Embedded = None, as_json: AsJson = False) -> None:
    """Look for what is wrong: for people and for monitors.

    The exit code is 0 if all is well, also with notices; 1 if there are warnings; 2 if there are
    errors or the database cannot be asked.

    Example: pgstream health --json
    """
    try:
        found = _found(dsn, embedded)
    except PgStreamError as error:
        report(error, as_json)
        raise typer.Exit(2) from None
    rows = [asdict(each) for each in found]
    if as_json:
        emit(rows)
    elif rows:
        show_table(None, rows, COLUMNS)
    else:
        say("All is well.")
    raise typer.Exit(_exit_code(found))


def _found(dsn: str | None, embedded: Path | None) -> list[Finding]:
    with database(dsn, embedded) as stream:
        return stream.health()


def _exit_code(found: list[Finding]) -> int:
    codes = {"notice": 0, "warning": 1, "error": 2}
    return max((codes[each.severity] for each in found), default=0)
