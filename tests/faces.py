"""Every public call of the Python face, as data: a new one must be added here."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from pgstream.client import PgStream
from pgstream.errors import PgStreamError

QUERY = "SELECT g, sum(x) AS total FROM t GROUP BY g"

CALLS: dict[str, Callable[[PgStream, str], Any]] = {
    "install": lambda ps, name: ps.install(),
    "execute": lambda ps, name: ps.execute("SELECT count(*) FROM pg_class"),
    "create_stream_table": lambda ps, name: ps.create_stream_table("another", QUERY),
    "alter_stream_table": lambda ps, name: ps.alter_stream_table(name, schedule="2h"),
    "drop_stream_table": lambda ps, name: ps.drop_stream_table("another"),
    "refresh_stream_table": lambda ps, name: ps.refresh_stream_table(name),
    "status": lambda ps, name: ps.status(),
    "show_settings": lambda ps, name: ps.show_settings(),
    "health": lambda ps, name: ps.health(),
    "alerts": lambda ps, name: list(ps.alerts(timeout=0)),
    "history": lambda ps, name: ps.history(name),
    "explain": lambda ps, name: ps.explain(name),
    "verify": lambda ps, name: ps.verify(name, attempts=1),
    "repair": lambda ps, name: ps.repair(),
    "table": lambda ps, name: ps.table(name),
    "close": lambda ps, name: ps.close(),
}
"""By name; each is given the name of a stream table. `QUERY` reads a table t (g, x)."""


def public_calls() -> set[str]:
    return {name for name, _ in inspect.getmembers(PgStream, callable) if name[0] != "_"}


def code(call: Callable[[], Any]) -> str:
    """The code of the error, or OK. What is not ours fails the test."""
    try:
        call()
    except PgStreamError as error:
        return error.code
    return "OK"
