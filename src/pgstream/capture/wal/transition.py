"""transition: from triggers to the WAL, in steps that are each done or not done.

TRIGGER        the transition begins
TRANSITIONING  triggers go on capturing while the slot is made; then one lock, and the WAL tells
WAL

A step that would have to wait is left to a later refresh, until the time is over. It rests in
between for as long as the transition has taken so far, and after a failure until twice its time is
over: each attempt holds up those who use the table. A kill between steps leaves a state from which
the next refresh goes on.
"""

from __future__ import annotations

from dataclasses import dataclass

import psycopg
from psycopg import errors

from pgstream.capture.wal.fall_back import limit_waiting
from pgstream.capture.wal.slot import make_slot, making_alone

SLOT_MILLISECONDS = 1000
SHORTEST_REST = 1.0

_STATE = """
SELECT cdc_mode, extract(epoch FROM clock_timestamp() - transition_started_at)::float8,
       coalesce(wal_next_attempt <= clock_timestamp(), true)
FROM pgstream.pgs_dependencies JOIN pgstream.pgs_change_tracking USING (source_relid)
WHERE source_relid = %s::bigint::oid
ORDER BY transition_started_at DESC NULLS LAST LIMIT 1
"""
_REST = """
UPDATE pgstream.pgs_change_tracking
SET wal_next_attempt = clock_timestamp() + make_interval(secs => %s)
WHERE source_relid = %s::bigint::oid
"""


@dataclass(frozen=True, slots=True)
class State:
    mode: str
    seconds: float | None
    """Since the last transition began, whether it is over or not."""
    is_due: bool
    """Whether it does not rest."""

    def rest(self, timeout: int) -> float:
        """Seconds until the next attempt; of one that has not failed, 0."""
        seconds = self.seconds or 0.0
        if self.mode == "TRIGGER":
            return max(2 * timeout - seconds, 0.0) if self.seconds is not None else 0.0
        return max(min(seconds, timeout - seconds), SHORTEST_REST)


def transition(connection: psycopg.Connection, relid: int, timeout: int) -> str | None:
    """Goes on as far as it gets. Why it has failed, if it has; None also if it is not over."""
    with making_alone(connection) as is_alone:
        before = read_state(connection, relid) if is_alone else None
        if before is None or not before.is_due:
            return None
        problem = _attempt(connection, relid, before, timeout)
        after = read_state(connection, relid)
        if after is not None and after.mode != "WAL":
            connection.execute(_REST, (after.rest(timeout), relid))
        return problem


def _attempt(connection: psycopg.Connection, relid: int, state: State, timeout: int) -> str | None:
    if state.mode == "TRIGGER":
        if state.rest(timeout):
            return None
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
        return None  # somebody is in the way; a later refresh goes on
    except psycopg.Error as error:
        if error.sqlstate is None:  # the connection is gone
            raise
        reason = error.diag.message_primary or str(error)
        give_up(connection, relid, reason)
        return reason
    return None


def read_state(connection: psycopg.Connection, relid: int) -> State | None:
    """None if its last reader has gone."""
    row = connection.execute(_STATE, (relid,)).fetchone()
    return State(*row) if row else None


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
