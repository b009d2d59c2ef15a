"""What the benchmarks share: where they run, what they print, the options that several have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgstream.cli.output import Steps, emit, show_table
from pgstream.settings import Settings

if TYPE_CHECKING:
    from pgstream.client import PgStream

Found = dict[str, Any]
Note = Callable[[str], None]
Forced = Annotated[
    bool, typer.Option("--forced", help="Never choose FULL, whatever DIFFERENTIAL costs.")
]


def run_bench(
    dsn: str | None,
    embedded: Path | None,
    as_json: bool,
    settings: Settings,
    measure: Callable[[PgStream, Note], Found],
    show: Callable[[Found], None],
) -> Found:
    """Measures in a room of its own, and prints what was found."""
    from pgstream.bench.place import place  # imports Spark, which takes a second

    with Steps(as_json) as steps, place(dsn, embedded, settings) as stream:
        found = measure(stream, steps.note)
    emit(found) if as_json else show(found)
    return found


def settings_of(forced: bool) -> Settings:
    settings = Settings.load()
    return replace(settings, differential_max_change_ratio=0.0) if forced else settings


def numbers(text: str, option: str) -> list[int]:
    """The numbers that an option lists."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() and int(part) for part in parts):
        raise typer.BadParameter(f"{text} is no list of numbers.", param_hint=option)
    return [int(part) for part in parts]


def show_results(title: str, found: Found, columns: Mapping[str, str]) -> None:
    """`columns` maps what was found to what stands above it."""
    shown = [{title: row[key] for key, title in columns.items()} for row in found["results"]]
    show_table(title, shown, tuple(columns.values()))
