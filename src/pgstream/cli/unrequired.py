"""A database that need not have what this version requires, for commands that mend it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pgstream.cli.options import address

if TYPE_CHECKING:
    from pgstream.client import PgStream


def opened(dsn: str | None, embedded: Path | None) -> PgStream:
    from pgstream.client import PgStream
    from pgstream.database.embedded import EmbeddedServer

    if embedded is None:
        return PgStream(address(dsn))
    server = EmbeddedServer.start(embedded)
    try:
        return PgStream(server.dsn, server=server)
    except BaseException:
        server.stop()
        raise
