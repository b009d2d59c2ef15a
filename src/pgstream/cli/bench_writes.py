"""pgstream bench writes"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from pgstream.cli.bench_plans import sizes
from pgstream.cli.options import AsJson, Dsn, Embedded
from pgstream.cli.output import Steps, emit, say, show_table
from pgstream.settings import Settings

COLUMNS = {
    "statement": "statement",
    "writers": "writers",
    "capture": "capture",
    "ms": "ms",
    "ratio": "× none",
    "decode_ms": "decoded in ms",
}


def writes(
    rows: Annotated[int, typer.Option(help="Rows of each writer.", min=1)] = 20_000,
    writers: Annotated[
        str, typer.Option(help="How many write at once; several numbers with commas.")
    ] = "1,4",
    cycles: Annotated[int, typer.Option(help="Rounds; the median counts.", min=1)] = 5,
    dsn: Dsn = None,
    embedded: Embedded = None,
    as_json: AsJson = False,
) -> None:
    """Measure what capture costs writers: by triggers and from the WAL, against none.

    Each writer runs its statements in one transaction inside PostgreSQL. What was captured is
    counted.

    Example: pgstream bench writes --rows 5000 --writers 1
    """
    counts = sizes(writers, "--writers")
    from pgstream.bench.place import place  # imports Spark, which takes a second
    from pgstream.bench.writes import measure_writes

    with Steps(as_json) as steps, place(dsn, embedded, Settings.load()) as stream:
        found = measure_writes(stream, rows, counts, cycles, steps.note)
    if as_json:
        emit(found)
    else:
        _show(found)
    if not all(row["exact"] for row in found["results"]):
        raise typer.Exit(1)


def _show(found: dict[str, Any]) -> None:
    shown = [{title: row[key] for key, title in COLUMNS.items()} for row in found["results"]]
    show_table(f"{found['rows']} rows for each writer", shown, tuple(COLUMNS.values()))
    say(f"The median of {found['cycles']} rounds. Decoding is done by a refresh, not by writers.")
    if found["obstacle"]:
        say(f"Not from the WAL: {found['obstacle']}.")
    for row in found["results"]:
        if not row["exact"]:
            say(f"{row['statement']}, {row['capture']}: not all rows were captured")
