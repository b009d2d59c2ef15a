"""pgstream alter"""

from __future__ import annotations

from typing import Annotated

import typer

from pgstream.cli.options import AsJson, Dsn, Embedded, Name, database
from pgstream.cli.output import emit, say


def alter(
    name: Name,
    schedule: Annotated[
        str | None, typer.Option(help="30s, 5m, 1h30m; or CALCULATED.", show_default=False)
    ] = None,
    mode: Annotated[
        str | None, typer.Option(help="DIFFERENTIAL, FULL or AUTO.", show_default=False)
    ] = None,
    status: Annotated[
        str | None, typer.Option(help="ACTIVE or SUSPENDED.", show_default=False)
    ] = None,
    dsn: Dsn = None,
    embedded: Embedded = None,
    as_json: AsJson = False,
) -> None:
    """Change a stream table's schedule, mode or status.

    Example: pgstream alter totals --schedule 10m
    """
    if schedule is None and mode is None and status is None:
        raise typer.BadParameter("Give --schedule, --mode or --status.")
    with database(dsn, embedded) as stream:
        stream.alter_stream_table(name, schedule, mode, status)
        table = stream.table(name)
    now = {
        "altered": table.full_name,
        "schedule": table.schedule or "CALCULATED",
        "mode": table.refresh_mode.value,
        "status": table.status.value,
    }
    if as_json:
        emit(now)
    else:
        say(f"Altered {table.full_name}: {now['schedule']}, {now['mode']}, {now['status']}.")
