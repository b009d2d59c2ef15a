"""Errors as users see them: a code, a sentence, a detail and a hint; never a stack trace."""

from __future__ import annotations

import contextlib
import signal
import threading
import traceback
import warnings
from collections.abc import Iterator
from typing import Any

import typer
from rich.text import Text
from typer.core import TyperGroup

from pgstream.cli.output import complain, emit
from pgstream.cli.quiet import children_said, debugging
from pgstream.errors import InternalError, PgStreamError

JSON_ASKED = "pgstream.json"
"""Where in a context's `meta` the option --json is noted."""


class Commands(TyperGroup):
    """The group of all commands: what they raise ends here."""

    def invoke(self, ctx: Any) -> Any:
        with _shown_warnings(), _ended_in_order():
            try:
                return super().invoke(ctx)
            except Exception as error:
                if _is_typers_own(error):
                    raise
                report(error, as_json=bool(ctx.meta.get(JSON_ASKED)))
                raise typer.Exit(1) from None


def report(error: Exception, as_json: bool) -> None:
    known = _known(error)
    if debugging():
        traceback.print_exception(error)
    if as_json:
        emit({"error": document(known)})
    else:
        complain(lines(known))


def document(error: PgStreamError) -> dict[str, Any]:
    return {
        "code": error.code,
        "message": error.message,
        "detail": error.detail,
        "hint": error.hint,
        "line": getattr(error, "line", None),
        "column": getattr(error, "column", None),
    }


def lines(error: PgStreamError) -> Text:
    text = Text.assemble((f"error [{error.code}]: ", "bold red"), error.sentence)
    if error.detail:
        text.append(f"\n{error.detail}", style="dim")
    if error.hint:
        text.append("\nHint: ", style="cyan").append(error.hint)
    return text


def _known(error: Exception) -> PgStreamError:
    if isinstance(error, PgStreamError):
        known = error
    else:
        from pgstream.refresh.known import as_known  # imports Spark, which takes a second

        known = as_known(error)
    if known.detail is None and isinstance(known, InternalError):
        known.detail = "\n".join(children_said()) or None
    return known


def _is_typers_own(error: Exception) -> bool:
    """Usage errors, exits and aborts, which Typer shows itself."""
    return isinstance(error, typer.Exit | typer.Abort) or hasattr(error, "exit_code")


@contextlib.contextmanager
def _ended_in_order() -> Iterator[None]:
    """SIGTERM ends a command as Ctrl-C does: a server that it started ends with it."""

    def end(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def _shown_warnings() -> Iterator[None]:
    """Warnings about a query go to stderr as one line; those of libraries go nowhere."""

    def show(message: Warning | str, category: type[Warning], *rest: Any, **more: Any) -> None:
        if category.__name__ == "PgStreamWarning":
            complain(Text.assemble(("warning: ", "bold yellow"), str(message)))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        yield
