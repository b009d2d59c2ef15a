"""Stream tables: PostgreSQL tables, defined by a query, that keep themselves fresh."""

from pgstream.client import PgStream, PgStreamWarning, connect, embedded
from pgstream.errors import PgStreamError

__all__ = ["PgStream", "PgStreamError", "PgStreamWarning", "connect", "embedded"]
