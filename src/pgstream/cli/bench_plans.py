"""pgstream bench plans"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from pgstream.bench.scenarios import SCENARIOS
from pgstream.cli.options import AsJson, Dsn, Embedded
from pgstream.cli.output import Steps, emit, say, show_table
from pgstream.settings import Settings

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
    forced: Annotated[
        bool,
        typer.Option("--forced", help="Never choose FULL, whatever DIFFERENTIAL costs."),
    ] = False,
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
    counts = sizes(changes, "--changes")
    from pgstream.bench.place import place  # imports Spark, which takes a second
    from pgstream.bench.plans import is_wrong, measure_plans

    with Steps(as_json) as steps, place(dsn, embedded, bench_settings(forced)) as stream:
        found = measure_plans(stream, rows, counts, chosen, cycles, steps.note)
    if as_json:
        emit(found)
    else:
        _show(found)
    if any(map(is_wrong, found["results"])):
        raise typer.Exit(1)


def bench_settings(forced: bool) -> Settings:
    settings = Settings.load()
    return replace(settings, differential_max_change_ratio=0.0) if forced else settings


def sizes(text: str, option: str) -> list[int]:
    """The numbers that an option lists."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() and int(part) for part in parts):
        raise typer.BadParameter(f"{text} is no list of numbers.", param_hint=option)
    return [int(part) for part in parts]


def _show(found: dict[str, Any]) -> None:
    shown = [{title: row[key] for key, title in COLUMNS.items()} for row in found["results"]]
    show_table(f"{found['rows']} rows", shown, tuple(COLUMNS.values()))
    say(f"A bare Spark action takes {found['bare_spark_action_ms']} ms.")
    for row in found["results"]:
        what = f"{row['scenario']}, {row['changes']} changed"
        if not row["exact"]:
            say(f"{what}: not exact")
        if not row["rows"]:
            say(f"{what}: the result is empty")
        if not row["changed"]:
            say(f"{what}: the result has not changed")
