"""failed: undoes a cycle that went wrong, writes down why, and tells it."""

from __future__ import annotations

from collections.abc import Mapping

from pgstream.catalog import store
from pgstream.engine.postgres.staging import drop_staging
from pgstream.errors import PgStreamError, SourceChanged
from pgstream.monitor.alerts import auto_suspended, refresh_failed, send
from pgstream.refresh.connections import Connections
from pgstream.refresh.known import as_known
from pgstream.settings import Settings


def failed(
    connections: Connections,
    settings: Settings,
    current: int,
    attempts: Mapping[int, int],
    error: BaseException,
) -> None:
    """`current` is the table at which it went wrong, unless the error says of which it is."""
    connections.reset()
    if connections.notes.closed:
        return
    known = as_known(error)
    id_ = error.table_id if isinstance(error, SourceChanged) and error.table_id else current
    permanent = isinstance(error, PgStreamError) and not error.transient
    with connections.notes.transaction():
        store.fail_history(connections.notes, attempts.values(), str(known))
        limit = _most_errors(settings, known, error)
        at_rest = store.record_failure(connections.notes, id_, str(known), limit, permanent)
        _tell(connections, id_, known, at_rest)
    if attempts and (target := list(attempts)[-1]) != id_:
        store.note_error(connections.notes, target, str(known))
    for table_id in attempts:
        drop_staging(connections.notes, table_id)


def _most_errors(settings: Settings, known: PgStreamError, error: BaseException) -> int | None:
    """After how many errors in a row the table rests; None if this one does not count."""
    if isinstance(known, SourceChanged):  # trying again does not help
        return 1
    passes = known.transient or not isinstance(error, Exception)  # such as Ctrl-C
    return None if passes else settings.max_consecutive_errors


def _tell(connections: Connections, id_: int, error: PgStreamError, at_rest: bool) -> None:
    for table in store.stream_tables(connections.notes, [id_]):
        send(connections.notes, refresh_failed(table.full_name, error))
        if at_rest:
            send(connections.notes, auto_suspended(table, error))
