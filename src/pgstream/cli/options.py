"""The options that all commands share, and the database they lead to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pgstream.cli.errors import JSON_ASKED
from pgstream.errors import SettingError

if TYPE_CHECKING:
    from pgstream.client import PgStream


def _note_json(context: typer.Context, value: bool) -> bool:
    context.meta[JSON_ASKED] = value
    return value


Dsn = Annotated[
    str | None,
    typer.Option(
        envvar="PGSTREAM_DSN",
        metavar="ADDRESS",
        help="The database: postgresql://user@host/name.",
        show_default=False,
    ),
]
Embedded = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="A PostgreSQL of our own, with its data in DIR, in place of --dsn.",
        show_default=False,
    ),
]
AsJson = Annotated[
    bool,
    typer.Option(
        "--json",
        callback=_note_json,
        is_eager=True,
        help="Print one JSON document.",
        show_default=False,
    ),
]
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="name or schema.name", show_default=False)
]


def database(dsn: str | None, embedded: Path | None) -> PgStream:
    """The database that the options name; a context manager. Spark starts when it is needed."""
    if embedded is None:
        dsn = address(dsn)
    from pgstream import client  # imports Spark, which takes a second

    return client.embedded(embedded) if embedded else client.connect(address(dsn))


def address(dsn: str | None) -> str:
    if not dsn:
        raise SettingError(
            "No database is given.",
            hint="Give --dsn ADDRESS, or set PGSTREAM_DSN, or use --embedded DIR.",
        )
    return dsn
