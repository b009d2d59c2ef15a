"""pgstream bench writes"""

from __future__ import annotations

from typing import Annotated

import typer

from pgstream.cli.bench_frame import Found, numbers, run_bench, show_results
from pgstream.cli.options import AsJson, Dsn, Embedded
from pgstream.cli.output import say
from pgstream.settings import Settings

COLUMNS = {
    "statement": "statement",
    "writers": "writers",
    "capture": "capture",
    "columns": "columns",
    "ms": "ms",
    "ratio": "× none",
    "decode_ms": "decoded in ms",
}


def writes(
    rows: Annotated[int, typer.Option(help="Rows of each writer.", min=1)] = 5_000,
    writers: Annotated[
        str, typer.Option(help="How many write at once; several numbers with commas.")
    ] = "1,4",
    cycles: Annotated[int, typer.Option(help="Rounds; the median counts.", min=1)] = 4,
    dsn: Dsn = None,
    embedded: Embedded = None,
    as_json: AsJson = False,
) -> None:
    """Measure what capture costs writers: by triggers and from the WAL, of all columns and of some,
    against none.

    Each writer runs its statements in one transaction inside PostgreSQL. What was captured is
    counted.

    Example: pgstream bench writes --rows 20000 --writers 1
    """
    counts = numbers(writers, "--writers")
    from pgstream.bench.writes import measure_writes  # imports Spark

    found = run_bench(
        dsn,
        embedded,
        as_json,
        Settings.load(),
        lambda stream, note: measure_writes(stream, rows, counts, cycles, note),
        _show,
    )
    if not all(row["exact"] for row in found["results"]):
        raise typer.Exit(1)


def _show(found: Found) -> None:
    show_results(f"{found['rows']} rows for each writer", found, COLUMNS)
    say(f"The median of {found['cycles']} rounds. Decoding is done by a refresh, not by writers.")
    if found["obstacle"]:
        say(f"Not from the WAL: {found['obstacle']}.")
    for row in found["results"]:
        if not row["exact"]:
            say(f"{row['statement']}, {row['capture']}: other rows were captured than written")
