"""place: where a benchmark runs, a schema of its own in a PostgreSQL that is temporary unless the
caller names one."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pgstream import client
from pgstream.client import PgStream
from pgstream.settings import Settings

SCHEMA = "pgstream_bench"


@contextmanager
def place(dsn: str | None, folder: Path | None, settings: Settings) -> Iterator[PgStream]:
    """A stream whose search path is the empty schema; it is dropped in the end."""
    with (
        tempfile.TemporaryDirectory(prefix="pgstream-bench-") as temporary,
        _opened(dsn, folder, Path(temporary), settings) as stream,
        room(stream),
    ):
        yield stream


def _opened(dsn: str | None, folder: Path | None, temporary: Path, settings: Settings) -> PgStream:
    if dsn is not None and folder is None:
        return client.connect(dsn, settings=settings)
    return client.embedded(folder or temporary, settings=settings)


@contextmanager
def room(stream: PgStream) -> Iterator[None]:
    stream.execute("SET client_min_messages = warning")
    _clean(stream)
    stream.execute("CREATE SCHEMA pgstream_bench")
    stream.execute("SET search_path = pgstream_bench")
    try:
        yield
    finally:
        _clean(stream)


def _clean(stream: PgStream) -> None:
    for row in stream.status():
        if row["name"].startswith(f"{SCHEMA}."):
            stream.drop_stream_table(row["name"])
    stream.execute("DROP SCHEMA IF EXISTS pgstream_bench CASCADE")
