"""pgstream verify"""

from __future__ import annotations

from typing import Annotated

import typer

from pgstream.cli.options import AsJson, Dsn, Embedded, database
from pgstream.cli.output import emit, show_table, working


def verify(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME", show_default=False)] = None,
    every: Annotated[bool, typer.Option("--all", help="All stream tables.")] = False,
    dsn: Dsn = None,
    embedded: Embedded = None,
    as_json: AsJson = False,
) -> None:
    """Compare stream tables, refreshed, with PostgreSQL's answer.

    The exit code is 1 if one differs. `missing` rows are in the answer only, `extra` ones in
    the stream table only.

    Example: pgstream verify --all
    """
    if bool(names) == every:
        raise typer.BadParameter("Give names, or --all.", param_hint="NAME")
    rows = []
    with database(dsn, embedded) as stream:
        for name in names or [row["name"] for row in stream.status()]:
            with working(f"verifying {name}", as_json):
                found = stream.verify(name)
            for each in (found, *found.hidden):
                differs = each.missing or each.extra
                rows.append(
                    {
                        "name": each.name,
                        "result": "DIFFERS" if differs else "exact",
                        "missing": each.missing,
                        "extra": each.extra,
                    }
                )
    if as_json:
        emit(rows)
    else:
        show_table(None, rows, ("name", "result", "missing", "extra"))
    if any(row["result"] != "exact" for row in rows):
        raise typer.Exit(1)
