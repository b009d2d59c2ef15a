"""pgstream bench wake"""

from __future__ import annotations

from typing import Annotated

import typer

from pgstream.cli.bench_frame import Found, run_bench, show_results
from pgstream.cli.options import AsJson, Dsn, Embedded
from pgstream.cli.output import say
from pgstream.settings import Settings

COLUMNS = {"what": "", "median_ms": "median ms", "p99_ms": "99 % ms", "most_ms": "longest ms"}


def wake(
    changes: Annotated[int, typer.Option(help="How many changes, one by one.", min=1)] = 100,
    writers: Annotated[int, typer.Option(help="How many write at once.", min=1)] = 8,
    rows: Annotated[int, typer.Option(help="Rows of each writer.", min=1)] = 2000,
    dsn: Dsn = None,
    embedded: Embedded = None,
    as_json: AsJson = False,
) -> None:
    """Measure how soon after a commit a table `on change` shows it, and what that costs writers.

    A bare Spark action is measured in the same run. Exit code 1 if the table is not exact.

    Example: pgstream bench wake --changes 20
    """
    from pgstream.bench.wake import measure_wake  # imports Spark

    found = run_bench(
        dsn,
        embedded,
        as_json,
        Settings.load(),
        lambda stream, note: measure_wake(stream, changes, writers, rows, note),
        _show,
    )
    if not found["exact"]:
        raise typer.Exit(1)


def _show(found: Found) -> None:
    show_results(f"{found['changes']} changes", found, COLUMNS)
    rates = ", ".join(f"{n} with {way}" for way, n in found["commits_per_second"].items())
    say(f"The median is {found['times_bare']} times that of a bare Spark action.")
    say(f"{found['writers']} writers, commits per second by schedule: {rates}.")
    say("The table is exact." if found["exact"] else "The table is not exact.")
