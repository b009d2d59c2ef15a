"""pgstream bench parallel"""

from __future__ import annotations

from typing import Annotated

import typer

from pgstream.cli.bench_frame import Found, numbers, run_bench, show_results
from pgstream.cli.options import AsJson, Dsn, Embedded
from pgstream.cli.output import say
from pgstream.settings import Settings

COLUMNS = {"at_once": "at once", "ms": "ms", "times_faster": "times faster"}


def parallel(
    tables: Annotated[int, typer.Option(help="How many stream tables.", min=1)] = 40,
    at_once: Annotated[
        str, typer.Option(help="How many are refreshed at the same time; numbers with commas.")
    ] = "1,2,4",
    cycles: Annotated[
        int,
        typer.Option(
            help="Workers of each kind; each has three rounds, of which the median counts.", min=1
        ),
    ] = 3,
    dsn: Dsn = None,
    embedded: Embedded = None,
    as_json: AsJson = False,
) -> None:
    """Measure how long a worker takes for many tables, by how many it refreshes at once.

    Exit code 1 if a table is not exact.

    Example: pgstream bench parallel --tables 10 --at-once 1,2
    """
    counts = numbers(at_once, "--at-once")
    from pgstream.bench.parallel import measure_parallel  # imports Spark

    found = run_bench(
        dsn,
        embedded,
        as_json,
        Settings.load(),
        lambda stream, note: measure_parallel(stream, tables, counts, cycles, note),
        _show,
    )
    if not found["exact"]:
        raise typer.Exit(1)


def _show(found: Found) -> None:
    show_results(f"{found['tables']} tables, all changed", found, COLUMNS)
    say(f"The median of {found['rounds']} rounds.")
    say("Every table is exact." if found["exact"] else "Not every table is exact.")
