"""idle: which stream tables a refresh would leave as they are, found out in one question.

That is most of them, most of the time. The SQL is in `database/functions/idle`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pgstream.catalog.records import Initiator, StreamTable
from pgstream.database.connection import Connection, DatabaseError
from pgstream.refresh.group import at_rest
from pgstream.settings import Settings

LOCK_NOT_AVAILABLE = "55P03"


def idle(
    connection: Connection,
    tables: Iterable[StreamTable],
    settings: Settings,
    initiator: Initiator = Initiator.SCHEDULER,
) -> set[int]:
    """The ids of those of the tables, and of those that they read, that have nothing to do, nor
    has anything that they read. Writes nothing."""
    rows = _ask(
        connection,
        "SELECT pgs_id FROM pgstream._idle(%(ids)s, %(resting)s, %(cdc_mode)s,"
        " %(capture_errors)s, false)",
        [table.id for table in tables],
        settings,
        initiator,
    )
    return {id_ for (id_,) in rows}


def note_idle(
    connection: Connection,
    ids: Iterable[int],
    settings: Settings,
    initiator: Initiator = Initiator.SCHEDULER,
    *,
    all_or_none: bool = False,
) -> dict[int, str]:
    """Looks, and does for those that are idle what a refresh without changes does. Their ids and
    names, upstream first; the others are to be refreshed. One statement, outside of a
    transaction."""
    return dict(
        _ask(
            connection,
            "SELECT pgs_id, name FROM pgstream._note_idle(%(ids)s, %(initiator)s, %(resting)s,"
            " %(cdc_mode)s, %(capture_errors)s, %(all)s)",
            ids,
            settings,
            initiator,
            all_or_none,
        )
    )


def _ask(
    connection: Connection,
    question: str,
    ids: Iterable[int],
    settings: Settings,
    initiator: Initiator,
    all_or_none: bool = False,
) -> list[Any]:
    """None is idle for certain while somebody locks what must be looked at."""
    parameters = {
        "ids": list(ids),
        "initiator": initiator,
        "resting": list(at_rest(initiator)),
        "cdc_mode": settings.cdc_mode,
        "capture_errors": settings.capture_errors,
        "all": all_or_none,
    }
    try:
        return connection.execute(question.encode(), parameters).fetchall()
    except DatabaseError as error:
        if error.sqlstate == LOCK_NOT_AVAILABLE:
            return []
        raise
