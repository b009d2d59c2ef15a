"""apply: a delta into its table, inside the committing transaction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

from pgstream.errors import IntegrityError
from pgstream.storage.names import identifiers
from pgstream.storage.removal import loose, removed_rows
from pgstream.storage.target import Target
from pgstream.storage.temporary import Temporary
from pgstream.storage.user_triggers import Around


@dataclass(frozen=True, slots=True)
class Applied:
    """A row that is updated is one that goes and one that comes."""

    rows_inserted: int
    rows_deleted: int


NOTHING = Applied(0, 0)


def nothing_around(event: str) -> nullcontext[None]:
    """The statement needs no company."""
    return nullcontext()


def apply(
    connection: psycopg.Connection,
    target: Target,
    delta: Temporary,
    around: Around = nothing_around,
) -> Applied:
    """Takes rows out and puts rows in; duplicates are counted, never merged. What touches no row
    is not run: a statement has triggers, too."""
    wanted, removed = counted(connection, delta), None
    at_once = connection.pipeline() if around is nothing_around else nullcontext()
    with at_once, applying(connection):
        if wanted.rows_deleted:
            with around("DELETE"):
                removed = _delete(connection, target, delta)
        if wanted.rows_inserted:
            with around("INSERT"):
                _insert(connection, target, delta)
    require_all(target, removed.rowcount if removed else 0, wanted.rows_deleted)
    return wanted


def counted(connection: psycopg.Connection, delta: Temporary) -> Applied:
    """How many rows the delta takes out and puts in."""
    row = connection.execute(
        sql.SQL(
            "SELECT coalesce(sum(__pgs_weight) FILTER (WHERE __pgs_weight > 0), 0)::bigint,"
            " coalesce(-sum(__pgs_weight) FILTER (WHERE __pgs_weight < 0), 0)::bigint FROM {}"
        ).format(delta.name)
    ).fetchone()
    assert row is not None
    return Applied(*row)


@contextmanager
def applying(connection: psycopg.Connection) -> Iterator[None]:
    """The guard of stream tables lets us pass."""
    connection.execute("SET LOCAL pg_stream.applying = 'on'")
    yield
    connection.execute("SET LOCAL pg_stream.applying = 'off'")


def require_all(target: Target, found: int, wanted: int) -> None:
    if found != wanted:
        raise IntegrityError(
            f"{target.full_name} does not hold {wanted - found} of the {wanted} rows that "
            "its change removes.",
            hint="Refresh it in FULL mode; was the table changed by hand?",
        )


def _insert(connection: psycopg.Connection, target: Target, delta: Temporary) -> None:
    connection.execute(
        sql.SQL(
            "INSERT INTO {} ({n}, __pgs_row_id) SELECT {n}, __pgs_row_id FROM {}"
            " CROSS JOIN LATERAL generate_series(1, __pgs_weight) AS copies(__pgs_copy)"
            " WHERE __pgs_weight > 0"
        ).format(target.table, delta.name, n=identifiers(target.names))
    )


def _delete(
    connection: psycopg.Connection, target: Target, delta: Temporary
) -> psycopg.Cursor[Any]:
    removal = sql.SQL("DELETE FROM {} WHERE ctid = ANY(ARRAY({}))").format(
        target.table, removed_rows(target, delta)
    )
    if loose(target):
        removal = _rewriting(removal, target, delta)
    return connection.execute(removal)


def _rewriting(removal: sql.Composed, target: Target, delta: Temporary) -> sql.Composed:
    """What was removed then stands in the delta, as it was written: readers remove just that."""
    return sql.SQL(
        "WITH gone AS ({removal} RETURNING {n}, __pgs_row_id),"
        " replaced AS (DELETE FROM {d} WHERE __pgs_weight < 0)"
        " INSERT INTO {d} ({n}, __pgs_row_id, __pgs_weight)"
        " SELECT {n}, __pgs_row_id, -1 FROM gone"
    ).format(removal=removal, d=delta.name, n=identifiers(target.names))
