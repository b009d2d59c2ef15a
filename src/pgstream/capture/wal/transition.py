"""transition: from triggers to the WAL, in steps that are each done or not done.

TRIGGER        the transition begins
TRANSITIONING  triggers go on capturing while the slot is made; then one lock, and the WAL tells
WAL

A step that would have to wait is left to the next refresh, until the time is over. A kill between
steps leaves a state from which the next refresh goes on.
"""

from __future__ import annotations

from dataclasses import dataclass

import psycopg
from psycopg import errors

from pgstream.capture.wal.fall_back import limit_waiting
from pgstream.capture.wal.slot import make_slot, making_alone

SLOT_MILLISECONDS = 1000

_STATE = """
SELECT cdc_mode, extract(epoch FROM clock_timestamp() - transition_started_at)::float8
FROM pgstream.pgs_dependencies WHERE source_relid = %s::bigint::oid
ORDER BY transition_started_at DESC NULLS LAST LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class State:
    mode: str
    seconds: float | None
    """Since the last transition began, whether it is over or not."""


def transition(connection: psycopg.Connection, relid: int, timeout: int) -> str | None:
    """Goes on as far as it gets. Why it has failed, if it has; None also if it is not over."""
    with making_alone(connection) as is_alone:
        if not is_alone:
            return None
        state = read_state(connection, relid)
        if state.mode == "TRIGGER":
            if state.seconds is not None and state.seconds < 2 * timeout:
                return None  # it has failed, and rests for as long
            begin(connection, relid)
        elif state.seconds is not None and state.seconds > timeout:
            reason = f"it was not done in {timeout} seconds"
            give_up(connection, relid, reason)
            return reason
        return _go_on(connection, relid)


def _go_on(connection: psycopg.Connection, relid: int) -> str | None:
    try:
        make_slot(connection, SLOT_MILLISECONDS)
        switch(connection, relid)
    except (errors.QueryCanceled, errors.LockNotAvailable):
        return None  # somebody is in the way; the next refresh goes on
    except psycopg.Error as error:
        if error.sqlstate is None:  # the connection is gone
            raise
        reason = error.diag.message_primary or str(error)
        give_up(connection, relid, reason)
        return reason
    return None


def read_state(connection: psycopg.Connection, relid: int) -> State:
    row = connection.execute(_STATE, (relid,)).fetchone()
    assert row is not None
    return State(*row)


def begin(connection: psycopg.Connection, relid: int) -> None:
    _set_mode(connection, relid, "TRANSITIONING", "transition_started", None)


def switch(connection: psycopg.Connection, relid: int) -> None:
    """LockNotAvailable if the table is in use for long."""
    with connection.transaction():
        limit_waiting(connection)
        connection.execute("SELECT pgstream._switch_to_wal(%s::bigint::oid)", (relid,))


def give_up(connection: psycopg.Connection, relid: int, reason: str) -> None:
    """The triggers are still there, so nothing is lost."""
    _set_mode(connection, relid, "TRIGGER", "transition_failed", reason)


def _set_mode(
    connection: psycopg.Connection, relid: int, mode: str, event: str, reason: str | None
) -> None:
    connection.execute(
        "SELECT pgstream._set_cdc_mode(%s::bigint::oid, %s, %s, %s)", (relid, mode, event, reason)
    )
