"""lock: one refresh of a stream table at a time, whoever does it."""

from __future__ import annotations

from collections.abc import Iterable

from pgstream.database.connection import Connection


def lock(apply: Connection, ids: Iterable[int]) -> bool:
    """Until the transaction ends. False if a refresh of one of these tables is running."""
    row = apply.execute(
        "SELECT bool_and(pg_try_advisory_xact_lock(pgstream._refresh_lock(), id::int))"
        " FROM (SELECT unnest(%s::bigint[]) AS id ORDER BY 1) tables",
        (list(ids),),
    ).fetchone()
    return bool(row and row[0])
