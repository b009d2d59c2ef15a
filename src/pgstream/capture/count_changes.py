"""How much is new in a buffer."""

from __future__ import annotations

from dataclasses import dataclass

import psycopg
from psycopg import sql

from pgstream.capture.names import buffer
from pgstream.capture.unseen import unseen


@dataclass(frozen=True, slots=True)
class Counted:
    rows: int
    is_truncated: bool
    """Whether a TRUNCATE is among it: the rows that it removed are not."""


def count_changes(connection: psycopg.Connection, relid: int, frontier: str) -> Counted:
    row = connection.execute(
        sql.SQL(
            "SELECT count(*) FILTER (WHERE __pgs_weight <> 0),"
            " coalesce(bool_or(__pgs_action = 'T'), false) FROM {} WHERE {}"
        ).format(buffer(relid), unseen(frontier))
    ).fetchone()
    assert row is not None
    return Counted(*row)
