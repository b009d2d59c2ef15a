"""pgstream bench"""

from __future__ import annotations

import statistics
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgstream.cli.bench_scenarios import DELETE, POPULATE, SCENARIOS, TABLES, UPDATE, shares
from pgstream.cli.options import AsJson, Dsn, Embedded
from pgstream.cli.output import complain, emit, say, show_table, working

if TYPE_CHECKING:
    from pgstream.client import PgStream

CYCLES = 3
KEYS = (
    "scenario",
    "full_ms",
    "differential_ms",
    "ratio",
    "changes_read",
    "rows_read",
    "spark_actions",
    "no_data_ms",
)
COLUMNS = (
    "scenario",
    "FULL ms",
    "DIFFERENTIAL ms",
    "ratio",
    "changes read",
    "rows read",
    "Spark actions",
    "NO_DATA ms",
)


def bench(
    context: typer.Context,
    rows: Annotated[int, typer.Option(help="Rows of the source table.", min=100)] = 100_000,
    changes: Annotated[int, typer.Option(help="Rows changed per cycle.", min=1)] = 100,
    scenario: Annotated[
        list[str] | None,
        typer.Option(help=f"One of {', '.join(SCENARIOS)}; may be repeated.", show_default="all"),
    ] = None,
    dsn: Dsn = None,
    embedded: Embedded = None,
    as_json: AsJson = False,
) -> None:
    """Measure FULL against DIFFERENTIAL refreshes.

    It runs on a temporary PostgreSQL of its own unless you name a database, where it makes and
    drops tables in a schema pgstream_bench.

    Example: pgstream bench --rows 1000000 --scenario join_agg
    """
    if context.invoked_subcommand:
        return
    chosen = scenario or list(SCENARIOS)
    unknown = [name for name in chosen if name not in SCENARIOS]
    if unknown:
        raise typer.BadParameter(f"There is no scenario {unknown[0]}.", param_hint="--scenario")
    results = _measure(dsn, embedded, chosen, rows, changes, as_json)
    if as_json:
        emit({"rows": rows, "changes": changes, "cycles": CYCLES, "results": results})
    else:
        _show(results, rows, changes)


def _measure(
    dsn: str | None, folder: Path | None, chosen: list[str], rows: int, changes: int, as_json: bool
) -> list[dict[str, Any]]:
    """A change of any size is to be measured as one, never turned into a FULL refresh."""
    from pgstream.bench.place import place  # imports Spark, which takes a second
    from pgstream.settings import Settings

    settings = replace(Settings.load(), differential_max_change_ratio=0.0)
    with place(dsn, folder, settings) as stream:
        with working(f"populating {rows} rows", as_json):
            stream.execute(TABLES)
            stream.execute(POPULATE, (rows,))
            stream.execute("ANALYZE src, dim")
        return [_scenario(stream, name, changes, as_json) for name in chosen]


def _scenario(stream: PgStream, name: str, changes: int, as_json: bool) -> dict[str, Any]:
    table = f"pgstream_bench.bench_{name}"
    with working(f"{name}: first population", as_json):
        stream.create_stream_table(table, SCENARIOS[name], "1h")
    with working(f"{name}: FULL", as_json):
        full = stream.refresh_stream_table(table, full=True)
    cycles = []
    for cycle in range(CYCLES):
        with working(f"{name}: DIFFERENTIAL {cycle + 1} of {CYCLES}", as_json):
            _change(stream, changes)
            cycles.append(stream.refresh_stream_table(table))
    nothing = stream.refresh_stream_table(table)
    exact = stream.verify(table).exact
    stream.drop_stream_table(table)
    differential = statistics.median(each.total_ms for each in cycles)
    if not as_json:
        complain(f"{name}: FULL {full.total_ms:.0f} ms, DIFFERENTIAL {differential:.0f} ms")
    return {
        "scenario": name,
        "full_ms": round(full.total_ms, 1),
        "differential_ms": round(differential, 1),
        "cycles_ms": [round(each.total_ms, 1) for each in cycles],
        "actions": [each.action.value for each in cycles],
        "ratio": round(full.total_ms / differential, 1),
        "changes_read": max(each.changes_read for each in cycles),
        "rows_read": max(each.rows_read for each in cycles),
        "spark_actions": max(each.spark_actions for each in cycles),
        "no_data_ms": round(nothing.total_ms, 1),
        "no_data_spark_actions": nothing.spark_actions,
        "exact": exact,
    }


def _change(stream: PgStream, changes: int) -> None:
    updated, deleted, inserted = shares(changes)
    top = stream.execute("SELECT max(id) FROM src")[0][0]
    stream.connection.execute(UPDATE, {"n": updated, "top": top})
    stream.connection.execute(DELETE, {"n": deleted, "top": top})
    stream.execute(POPULATE, (inserted,))


def _show(results: list[dict[str, Any]], rows: int, changes: int) -> None:
    table = [dict(zip(COLUMNS, (each[key] for key in KEYS), strict=True)) for each in results]
    show_table(f"{rows} rows, {changes} changed per cycle", table, COLUMNS)
    say(f"DIFFERENTIAL is the median of {CYCLES} cycles; the counts are their largest.")
    wrong = [each["scenario"] for each in results if not each["exact"]]
    say(f"Not exact: {', '.join(wrong)}" if wrong else "Every table is exact.")
    if wrong:
        raise typer.Exit(1)
