"""pgstream bench plans"""

from __future__ import annotations

from typing import Annotated

import typer

from pgstream.bench.scenarios import SCENARIOS
from pgstream.cli.bench_frame import (
    Forced,
    Found,
    numbers,
    run_bench,
    settings_of,
    show_results,
)
from pgstream.cli.options import AsJson, Dsn, Embedded
from pgstream.cli.output import say

COLUMNS = {
    "scenario": "scenario",
    "changes": "changed",
    "postgres_ms": "PG REFRESH ms",
    "full_ms": "FULL ms",
    "ms": "ms",
    "action": "action",
    "rows_read": "rows read",
    "rows_written": "written",
    "spark_actions": "Spark actions",
    "times_join": "× join",
    "times_full": "× FULL",
}


def plans(
    rows: Annotated[int, typer.Option(help="Rows of the large table.", min=2000)] = 1_000_000,
    changes: Annotated[
        str, typer.Option(help="Rows changed per refresh; several sizes with commas.")
    ] = "1,1000,10000",
    scenario: Annotated[
        list[str] | None,
        typer.Option(help=f"One of {', '.join(SCENARIOS)}; may be repeated.", show_default="all"),
    ] = None,
    cycles: Annotated[int, typer.Option(help="Refreshes per size; the median counts.", min=1)] = 3,
    forced: Forced = False,
    dsn: Dsn = None,
    embedded: Embedded = None,
    as_json: AsJson = False,
) -> None:
    """Measure typical plans beside PostgreSQL's own REFRESH, FULL and a bare Spark action.

    Each result is checked: exact, not empty, and changed by the change.

    Example: pgstream bench plans --rows 100000 --scenario join --scenario left_join
    """
    chosen = scenario or list(SCENARIOS)
    for name in chosen:
        if name not in SCENARIOS:
            raise typer.BadParameter(f"There is no scenario {name}.", param_hint="--scenario")
    sizes = numbers(changes, "--changes")
    from pgstream.bench.plans import is_wrong, measure_plans  # imports Spark

    found = run_bench(
        dsn,
        embedded,
        as_json,
        settings_of(forced),
        lambda stream, note: measure_plans(stream, rows, sizes, chosen, cycles, note),
        _show,
    )
    if any(map(is_wrong, found["results"])):
        raise typer.Exit(1)


def _show(found: Found) -> None:
    show_results(f"{found['rows']} rows", found, COLUMNS)
    say(f"A bare Spark action takes {found['bare_spark_action_ms']} ms.")
    for row in found["results"]:
        what = f"{row['scenario']}, {row['changes']} changed"
        if not row["exact"]:
            say(f"{what}: not exact")
        if not row["rows"]:
            say(f"{what}: the result is empty")
        if not row["changed"]:
            say(f"{what}: the result has not changed")
