"""pgstream init"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pgstream.cli.options import AsJson, Dsn, Embedded
from pgstream.cli.output import emit, say
from pgstream.cli.unrequired import opened


def init(
    dsn: Dsn = None,
    embedded: Embedded = None,
    uninstall: Annotated[
        bool, typer.Option("--uninstall", help="Remove pgstream and its stream tables.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Install pgstream into a database, upgrade it, or remove it.

    It may run any number of times. Removal drops the stream tables and leaves your own tables
    as they are.

    Example: pgstream init --dsn postgresql://me@localhost/shop
    """
    done = _uninstall(dsn, embedded) if uninstall else _install(dsn, embedded)
    if as_json:
        emit(done)
    else:
        say(_words(done))


def _install(dsn: str | None, embedded: Path | None) -> dict[str, object]:
    from pgstream.database import migrate

    with opened(dsn, embedded) as stream:
        ran = stream.install()
        return {"ran": ran, "schema": migrate.installed_version(stream.own)}


def _uninstall(dsn: str | None, embedded: Path | None) -> dict[str, object]:
    from pgstream.catalog import store
    from pgstream.database import migrate

    with opened(dsn, embedded) as stream:
        if migrate.installed_version(stream.own) is None:
            return {"removed": False, "stream_tables": []}
        names = [table.full_name for table in store.stream_tables(stream.own)]
        migrate.uninstall(stream.own)
        return {"removed": True, "stream_tables": names}


def _words(done: dict[str, object]) -> str:
    if "ran" in done:
        ran = done["ran"]
        what = f"ran {', '.join(ran)}" if isinstance(ran, list) and ran else "nothing to do"
        return f"pgstream is installed (schema {done['schema']}): {what}."
    if not done["removed"]:
        return "There is no pgstream in this database."
    names = done["stream_tables"]
    listed = ", ".join(names) if isinstance(names, list) and names else "none"
    return f"pgstream is removed. Stream tables dropped: {listed}."
