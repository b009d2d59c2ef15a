"""Writes the change of a stream table into its buffer, as triggers do for other tables."""

from __future__ import annotations

from collections.abc import Sequence

import psycopg
from psycopg import sql

from pgstream.capture.names import find_buffer


def append(
    connection: psycopg.Connection, relid: int, delta: sql.Composable, names: Sequence[str]
) -> None:
    """What the table's own readers will read as its change; nothing if nobody reads it.

    `delta` has these columns, the row id and a weight. A buffer's row has weight +1 or −1.
    """
    table = find_buffer(connection, relid)
    if table is None:
        return
    listed = sql.SQL(", ").join(map(sql.Identifier, names))
    connection.execute(
        sql.SQL(
            "INSERT INTO {} (__pgs_action, __pgs_weight, {n}, __pgs_row_id) SELECT"
            " CASE WHEN __pgs_weight > 0 THEN 'I' ELSE 'D' END, sign(__pgs_weight)::smallint,"
            " {n}, __pgs_row_id FROM {}"
            " CROSS JOIN LATERAL generate_series(1, abs(__pgs_weight)) AS copies(__pgs_copy)"
        ).format(table, delta, n=listed)
    )
