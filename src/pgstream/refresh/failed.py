"""failed: undoes a cycle that went wrong, writes down why, and tells it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pgstream.catalog import store
from pgstream.catalog.records import StreamTable
from pgstream.engine.postgres.staging import drop_staging
from pgstream.errors import PgStreamError, SourceChanged
from pgstream.monitor.alerts import auto_suspended, refresh_failed, send
from pgstream.refresh.connections import Connections
from pgstream.refresh.graph import upstream
from pgstream.refresh.known import as_known
from pgstream.refresh.lock import lock
from pgstream.settings import Settings


def failed(
    connections: Connections,
    settings: Settings,
    current: int,
    attempts: Mapping[int, int],
    error: BaseException,
) -> BaseException:
    """`current` is the table at which it went wrong, unless the error says of which it is. The
    error as it is to be raised: one of ours that knows the table, unless it is such as Ctrl-C."""
    known = as_known(error)
    known.table_id = id_ = known.table_id or current
    connections.reset()
    if not connections.notes.closed:
        _note(connections, settings, id_, attempts, error, known)
    return known if isinstance(error, Exception) else error


def _note(
    connections: Connections,
    settings: Settings,
    id_: int,
    attempts: Mapping[int, int],
    error: BaseException,
    known: PgStreamError,
) -> None:
    permanent = isinstance(error, PgStreamError) and not error.transient
    with connections.notes.transaction():
        store.fail_history(connections.notes, attempts.values(), str(known))
        limit = _most_errors(settings, known, error)
        at_rest = store.record_failure(connections.notes, id_, str(known), limit, permanent)
        _tell(connections, id_, known, at_rest)
    for reader in _readers(connections, id_, attempts):
        store.note_error(connections.notes, reader.id, str(known))
    if not connections.are_broken and lock(connections.apply, attempts):
        for table_id in attempts:
            drop_staging(connections.notes, table_id)
        connections.reset()


def _readers(connections: Connections, id_: int, ids: Iterable[int]) -> list[StreamTable]:
    """Those among the tables that read the one that failed, directly or not."""
    tables = store.stream_tables(connections.notes, ids)
    return [
        table
        for table in tables
        if any(each.id == id_ for each in upstream(table, tables) if each is not table)
    ]


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
