"""Stream tables: PostgreSQL tables, defined by a query, that keep themselves fresh."""

from typing import TYPE_CHECKING, Any

from pgstream.errors import PgStreamError

if TYPE_CHECKING:
    from pgstream.client import PgStream, PgStreamWarning, connect, embedded

__all__ = ["PgStream", "PgStreamError", "PgStreamWarning", "connect", "embedded"]


def __getattr__(name: str) -> Any:
    """The client imports Spark, which takes a second: only when it is asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pgstream import client

    return getattr(client, name)
