"""pgstream refresh"""

from __future__ import annotations

from typing import Annotated

import typer

from pgstream.cli.layers import layers, show_layers
from pgstream.cli.options import AsJson, Dsn, Embedded, Name, database
from pgstream.cli.output import emit, working


def refresh(
    name: Name,
    full: Annotated[bool, typer.Option("--full", help="Compute everything from scratch.")] = False,
    dsn: Dsn = None,
    embedded: Embedded = None,
    as_json: AsJson = False,
) -> None:
    """Refresh a stream table, and first what it reads.

    Example: pgstream refresh totals
    """
    with database(dsn, embedded) as stream, working(f"refreshing {name}", as_json):
        result = stream.refresh_stream_table(name, full=full)
    found = layers(result)
    if as_json:
        emit({"refreshed": result.name, "action": result.action.value, "layers": found})
    else:
        show_layers(found)
