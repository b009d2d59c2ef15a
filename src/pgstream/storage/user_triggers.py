"""Triggers that users have put on a stream table.

They run in the committing transaction, with our rights. So PostgreSQL is asked first whether they
may: their functions must belong to trusted roles, and none may change or skip rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

import psycopg
from psycopg import sql

from pgstream.database.sqlstates import UNDEFINED, outermost_function, path_hint
from pgstream.errors import TriggerError
from pgstream.storage.target import Target

Around = Callable[[str], AbstractContextManager[None]]
"""What a statement on the table runs in; it is given the event: INSERT, UPDATE or DELETE."""


@dataclass(frozen=True, slots=True)
class UserTrigger:
    name: str
    function: str
    """As PostgreSQL writes it in the context of an error: schema.name()."""
    events: tuple[str, ...]
    is_always: bool
    """Fires in every session, not only in those of ordinary replication role."""
    is_deferrable: bool


def user_triggers(connection: psycopg.Connection, target: Target) -> list[UserTrigger]:
    """Those that are enabled. Nobody adds one until the transaction ends."""
    with connection.pipeline():
        connection.execute(sql.SQL("LOCK TABLE {} IN ROW EXCLUSIVE MODE").format(target.table))
        found = connection.execute(
            "SELECT name, function, events, is_always, is_deferrable"
            " FROM pgstream._user_triggers(%s)",
            (target.relid,),
        )
    return [UserTrigger(n, f, tuple(e), always, late) for n, f, e, always, late in found]


def require_allowed(connection: psycopg.Connection, target: Target) -> None:
    """Raises if one of them must not run."""
    connection.execute("SELECT pgstream._require_allowed_triggers(%s)", (target.relid,))


@contextmanager
def silenced(
    connection: psycopg.Connection, target: Target, triggers: Sequence[UserTrigger]
) -> Iterator[None]:
    """They do not fire in here. Readers are not blocked: PostgreSQL locks out writers only."""
    for trigger in triggers:
        _alter(connection, target, "DISABLE TRIGGER {}", trigger)
    yield
    if triggers:
        # A table with events that wait for the commit, such as those of a foreign key, cannot be
        # altered.
        connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
    for trigger in triggers:
        form = "ENABLE ALWAYS TRIGGER {}" if trigger.is_always else "ENABLE TRIGGER {}"
        _alter(connection, target, form, trigger)


def _alter(connection: psycopg.Connection, target: Target, form: str, trigger: UserTrigger) -> None:
    action = sql.SQL(form).format(sql.Identifier(trigger.name))
    connection.execute(sql.SQL("ALTER TABLE {} {}").format(target.table, action))


def firing(
    connection: psycopg.Connection, target: Target, triggers: Sequence[UserTrigger]
) -> Around:
    """An error in one of them becomes one of ours, which names it. Those that wait for the commit
    fire at once, so that their errors are this table's."""

    @contextmanager
    def around(event: str) -> Iterator[None]:
        here = [trigger for trigger in triggers if event in trigger.events]
        try:
            yield
            if any(trigger.is_deferrable for trigger in here):
                connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
        except psycopg.Error as error:
            if culprits := _culprits(error, here):
                raise _failed(target, event, culprits, error) from error
            raise

    return around


def _culprits(error: psycopg.Error, triggers: Sequence[UserTrigger]) -> list[UserTrigger]:
    """By the function that failed; its own search path may leave out its schema."""
    function = outermost_function(error.diag.context or "")
    if function is None:
        return []
    name = function.removesuffix("()")
    forms = [trigger.function.removesuffix("()") for trigger in triggers]
    here = zip(triggers, forms, strict=True)
    return [trigger for trigger, form in here if form == name or form.endswith(f".{name}")]


def _failed(
    target: Target, event: str, culprits: Sequence[UserTrigger], error: psycopg.Error
) -> TriggerError:
    names = " or ".join(f"{trigger.name} ({trigger.function})" for trigger in culprits)
    said = error.diag.message_primary or str(error).strip()
    hint = error.diag.message_hint or "Correct it, drop it, or set user_triggers to off."
    if error.sqlstate in UNDEFINED:
        hint = path_hint(culprits[0].function)
    return TriggerError(
        f"The trigger {names} on {target.full_name} failed at {event}: {said}",
        detail=error.diag.message_detail,
        hint=hint,
    )
