"""pgstream bench tpch"""

from __future__ import annotations

from typing import Annotated

import typer

from pgstream.bench.tpch.sections import TABLES, queries
from pgstream.cli.bench_frame import Forced, Found, run_bench, settings_of, show_results
from pgstream.cli.options import AsJson, Dsn, Embedded
from pgstream.cli.output import say

COLUMNS = {
    "query": "query",
    "postgres_ms": "PG REFRESH ms",
    "full_ms": "FULL ms",
    "ms": "ms",
    "analysis_ms": "analysis",
    "planning_ms": "planning",
    "running_ms": "running",
    "action": "action",
    "rows_read": "rows read",
    "rows_written": "written",
    "spark_actions": "Spark actions",
    "rows": "rows",
    "exact": "exact",
    "error": "error",
}


def tpch(
    scale: Annotated[float, typer.Option(help="The scale factor.", min=0.01)] = 0.1,
    changed: Annotated[
        str, typer.Option(help="The tables that change, with commas, or all.")
    ] = "orders,lineitem",
    share: Annotated[
        float, typer.Option(help="The share of their rows that change.", min=0.0, max=1.0)
    ] = 0.001,
    query: Annotated[
        str | None, typer.Option(help="Some queries only, such as q1,q18.", show_default="all")
    ] = None,
    cycles: Annotated[int, typer.Option(help="Rounds of changes; the median counts.", min=1)] = 3,
    forced: Forced = False,
    dsn: Dsn = None,
    embedded: Embedded = None,
    as_json: AsJson = False,
) -> None:
    """Measure TPC-H's 22 queries beside PostgreSQL's own REFRESH and FULL.

    Its rows are made by tpchgen-cli: pip install 'pgstream\\[bench]'. Exit code 1 if a query fails
    or is not exact.

    Example: pgstream bench tpch --scale 0.01 --query q1,q18
    """
    tables = TABLES if changed == "all" else _listed(changed, TABLES, "--changed")
    chosen = _listed(query, list(queries()), "--query") if query else list(queries())
    from pgstream.bench.tpch.measure_tpch import measure_tpch  # imports Spark

    found = run_bench(
        dsn,
        embedded,
        as_json,
        settings_of(forced),
        lambda stream, note: measure_tpch(stream, scale, share, tables, chosen, cycles, note),
        _show,
    )
    if found["summary"]["exact"] < len(chosen):
        raise typer.Exit(1)


def _listed(text: str, known: list[str], option: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in known:
            raise typer.BadParameter(f"There is no {name}.", param_hint=option)
    return names


def _show(found: Found) -> None:
    title = f"TPC-H, scale factor {found['scale']}, {found['share']:.2%} changed"
    show_results(f"{title} in {', '.join(found['changed'])}", found, COLUMNS)
    counted = found["summary"]
    words = [f"{name.replace('_', ' ')}: {n}" for name, n in counted.items()]
    say(", ".join(words) + f"; a bare Spark action takes {found['bare_spark_action_ms']} ms")
    if same := [row["query"] for row in found["results"] if row["changed"] is False]:
        say(f"The changes did not touch the results of {', '.join(same)}.")
