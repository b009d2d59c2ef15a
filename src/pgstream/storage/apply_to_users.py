"""apply_to_users: a delta into a stream table, as the triggers and subscribers of it are to see it.

user_triggers   auto   by rows, if the table has triggers of users or is published
                on     by rows
                off    by rows, if it is published; triggers of users do not fire
"""

from __future__ import annotations

from enum import StrEnum

import psycopg

from pgstream.storage.apply import Applied, apply, nothing_around
from pgstream.storage.apply_by_rows import apply_by_rows
from pgstream.storage.published import is_published
from pgstream.storage.target import Target
from pgstream.storage.temporary import Temporary
from pgstream.storage.user_triggers import firing, require_allowed, silenced, user_triggers


class Triggers(StrEnum):
    AUTO = "auto"
    ON = "on"
    OFF = "off"


def apply_to_users(
    connection: psycopg.Connection, target: Target, delta: Temporary, triggers: Triggers
) -> Applied:
    found = user_triggers(connection, target)
    if triggers is Triggers.OFF:
        run = apply_by_rows if is_published(connection, target.relid) else apply
        with silenced(connection, target, found):
            return run(connection, target, delta)
    if found:
        require_allowed(connection, target)
    by_rows = found or triggers is Triggers.ON or is_published(connection, target.relid)
    run = apply_by_rows if by_rows else apply
    around = firing(connection, target, found) if found else nothing_around
    return run(connection, target, delta, around)
