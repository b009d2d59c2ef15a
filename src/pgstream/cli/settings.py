"""pgstream settings"""

from __future__ import annotations

from pgstream.cli.options import AsJson, Dsn, Embedded, database
from pgstream.cli.output import emit, show_table

COLUMNS = ("setting", "value", "source", "default", "allowed")


def settings(dsn: Dsn = None, embedded: Embedded = None, as_json: AsJson = False) -> None:
    """Show every setting: its value, where that is from, and what is allowed.

    Example: pgstream settings --json
    """
    with database(dsn, embedded) as stream:
        rows = stream.show_settings()
    if as_json:
        emit(rows)
    else:
        show_table(None, [_shown(row) for row in rows], COLUMNS)


def _shown(row: dict[str, object]) -> dict[str, object]:
    allowed = row["allowed"] if row["has_effect"] else "anything: without effect"
    return {
        **row,
        "value": _text(row["value"]),
        "default": _text(row["default"]),
        "allowed": allowed,
    }


def _text(value: object) -> object:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)
