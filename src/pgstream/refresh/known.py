"""Known errors: the one gate through which errors leave. Beyond it there is only PgStreamError.

The driver of PostgreSQL, Spark, Arrow, the operating system and our own assertions raise what
they like. Ctrl-C and the end of the process pass.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from pgstream.database.connection import DatabaseError
from pgstream.database.sqlstates import translate
from pgstream.engine.spark.failures import as_refresh_error, is_sparks
from pgstream.errors import InternalError, PgStreamError

REPORT = "This is a fault of pgstream: please report it. PGSTREAM_DEBUG=1 shows where it happened."


@contextlib.contextmanager
def known_errors(query: str | None = None) -> Iterator[None]:
    """Also a decorator. `query` is the text that PostgreSQL's positions count in."""
    try:
        yield
    except PgStreamError:
        raise
    except Exception as error:
        raise as_known(error, query) from error


def as_known(error: BaseException, query: str | None = None) -> PgStreamError:
    if isinstance(error, PgStreamError):
        return error
    if isinstance(error, DatabaseError):
        return translate(error, query)
    if isinstance(error, Exception) and is_sparks(error):
        return as_refresh_error(error)
    first = (str(error).strip().splitlines() or [""])[0]
    name = type(error).__name__
    return InternalError(f"{name}: {first}" if first else name, hint=REPORT)
