"""Deletes rows of a buffer in small transactions: none of them holds back VACUUM."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import sql

BATCH = 20_000


def delete_batch(
    connection: psycopg.Connection,
    buffer: sql.Composable,
    condition: sql.Composable,
    parameters: tuple[Any, ...] = (),
    batch: int = BATCH,
) -> psycopg.Cursor[Any]:
    """Some of the rows that the condition holds for. Planned each time: by a plan that was made
    while the buffer was empty, each row would be compared with each place."""
    statement = sql.SQL(
        "DELETE FROM {b} WHERE ctid = ANY(ARRAY(SELECT ctid FROM {b} WHERE {c} LIMIT {n}))"
    ).format(b=buffer, c=condition, n=sql.Literal(batch))
    return connection.execute(statement, parameters, prepare=False)


def delete_in_batches(
    connection: psycopg.Connection,
    buffer: sql.Composable,
    condition: sql.Composable,
    parameters: tuple[Any, ...] = (),
    batch: int = BATCH,
) -> int:
    """All rows that the condition holds for; how many. Outside of a transaction."""
    deleted = 0
    while True:
        count = delete_batch(connection, buffer, condition, parameters, batch).rowcount
        deleted += count
        if count < batch:
            return deleted
