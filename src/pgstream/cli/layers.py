"""What a refresh did, layer by layer, upstream first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pgstream.cli.output import show_table

if TYPE_CHECKING:
    from pgstream.catalog.records import RefreshResult

KEYS = (
    "name",
    "action",
    "reason",
    "changes_read",
    "rows_read",
    "rows_inserted",
    "rows_deleted",
    "spark_actions",
)
COLUMNS = (
    "name",
    "action",
    "reason",
    "changes read",
    "rows read",
    "inserted",
    "deleted",
    "Spark actions",
    "ms",
)


def layers(result: RefreshResult) -> list[dict[str, Any]]:
    return [_layer(each) for each in (*result.upstream, result)]


def _layer(result: RefreshResult) -> dict[str, Any]:
    return {
        **result.work,
        "compute_ms": round(result.compute_ms, 1),
        "analysis_ms": round(result.analysis_ms, 1),
        "planning_ms": round(result.planning_ms, 1),
        "running_ms": round(result.running_ms, 1),
        "apply_ms": round(result.apply_ms, 1),
        "total_ms": round(result.total_ms, 1),
    }


def show_layers(found: list[dict[str, Any]]) -> None:
    """The last column is the layer's own work; the cycle as a whole takes a little longer."""
    rows = []
    for layer in found:
        row = dict(zip(COLUMNS, (layer[key] for key in KEYS), strict=False))
        rows.append({**row, "ms": f"{layer['compute_ms'] + layer['apply_ms']:.0f}"})
    show_table(None, rows, COLUMNS)
