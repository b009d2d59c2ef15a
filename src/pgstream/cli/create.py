"""pgstream create"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from pgstream.cli.layers import layers, show_layers
from pgstream.cli.options import AsJson, Dsn, Embedded, Name, database
from pgstream.cli.output import emit, say, working


def create(
    name: Name,
    query: Annotated[
        str | None, typer.Argument(help="A SELECT; - reads it from stdin.", show_default=False)
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file",
            "-f",
            help="Read the query from a file.",
            exists=True,
            dir_okay=False,
            show_default=False,
        ),
    ] = None,
    schedule: Annotated[
        str, typer.Option(help="How fresh: 30s, 5m, 1h30m; or CALCULATED, as its readers need.")
    ] = "1m",
    mode: Annotated[str, typer.Option(help="DIFFERENTIAL, FULL or AUTO.")] = "DIFFERENTIAL",
    initialize: Annotated[
        bool, typer.Option("--initialize/--no-initialize", help="Fill it now.")
    ] = True,
    dsn: Dsn = None,
    embedded: Embedded = None,
    as_json: AsJson = False,
) -> None:
    """Create a stream table from a query, and fill it.

    Example: pgstream create totals "SELECT region, sum(amount) AS total FROM orders GROUP BY 1"
    """
    text = _text(query, file)
    with database(dsn, embedded) as stream, working(f"creating {name}", as_json):
        result = stream.create_stream_table(name, text, schedule, mode, initialize)
        full_name = stream.table(name).full_name
    found = layers(result) if result else []
    if as_json:
        emit({"created": full_name, "layers": found})
        return
    say(f"Created {full_name}." + ("" if found else " It is empty until its first refresh."))
    if found:
        show_layers(found)


def _text(query: str | None, file: Path | None) -> str:
    if (query is None) == (file is None):
        raise typer.BadParameter("Give the query, or --file.", param_hint="QUERY")
    if file is not None:
        return file.read_text(encoding="utf-8")
    return sys.stdin.read() if query == "-" else str(query)
