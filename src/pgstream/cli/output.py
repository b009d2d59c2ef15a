"""What commands print: tables for people, one JSON document for programs."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

WIDTH_OF_A_PIPE = 200


def console(stderr: bool = False, width_of_a_pipe: int | None = None) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    return Console(
        file=stream,
        width=None if stream.isatty() else width_of_a_pipe or WIDTH_OF_A_PIPE,
        highlight=False,
        soft_wrap=True,
    )


def emit(document: Any) -> None:
    """One JSON document on stdout."""
    print(json.dumps(document, default=_plain, ensure_ascii=False, indent=2), flush=True)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    return str(value)


def say(text: str | Text) -> None:
    console().print(text, markup=False)


def complain(text: str | Text) -> None:
    console(stderr=True).print(text, markup=False)


def show_table(title: str | None, rows: Iterable[dict[str, Any]], columns: Sequence[str]) -> None:
    """A table; on a screen too narrow for it, one value per line."""
    listed, screen = list(rows), console()
    made = table_of(title, listed, columns)
    unbounded = screen.options.update(max_width=10_000)
    if screen.measure(made, options=unbounded).maximum <= screen.width:
        screen.print(made)
        return
    longest = max(map(len, columns))
    for row in listed:
        for name in columns:
            line = Text.assemble((name.ljust(longest + 2), "cyan"), text(row[name]))
            screen.print(line)
        screen.print()


def table_of(title: str | None, rows: Iterable[dict[str, Any]], columns: Sequence[str]) -> Table:
    made = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        header_style="bold cyan",
        box=SIMPLE_HEAD,
        pad_edge=False,
    )
    listed = list(rows)
    for name in columns:
        numeric = any(isinstance(row[name], int | float | Decimal) for row in listed)
        boolean = all(isinstance(row[name], bool) for row in listed)
        made.add_column(
            name, justify="right" if numeric and not boolean else "left", overflow="fold"
        )
    for row in listed:
        made.add_row(*(Text(text(row[name])) for name in columns))
    return made


def text(value: Any) -> str:
    """A value in a cell."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.1f}"
        case datetime():
            return value.isoformat(sep=" ", timespec="seconds")
        case timedelta():
            return f"{value.total_seconds():.0f} s"
        case _:
            return str(value)


@contextlib.contextmanager
def working(what: str, as_json: bool = False) -> Iterator[None]:
    """A spinner on stderr, if a person is looking."""
    screen = console(stderr=True)
    if as_json or not screen.is_terminal:
        yield
        return
    with screen.status(what):
        yield


class Steps:
    """What a long command is doing, on stderr: a spinner for a person, lines for a log."""

    def __init__(self, as_json: bool) -> None:
        self._screen = None if as_json else console(stderr=True)
        self._status = (
            self._screen.status("…") if self._screen and self._screen.is_terminal else None
        )

    def __enter__(self) -> Steps:
        if self._status:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status:
            self._status.stop()

    def note(self, what: str) -> None:
        if self._status:
            self._status.update(what)
        elif self._screen:
            self._screen.print(what, markup=False)
