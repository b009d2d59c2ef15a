"""Follows DDL on what stream tables read, before a refresh takes its snapshot.

One short transaction: capture is installed as the source is now, names in stored queries are those
of now, queries are checked again where what they use has changed, and whoever must start again is
marked. A stream table that cannot be read any more keeps its shapes, so that each refresh says so
until somebody puts it right; then it starts again, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import groupby

from pgstream.catalog import store
from pgstream.catalog.records import StreamTable
from pgstream.catalog.shapes import Changed
from pgstream.database.connection import Connection, DatabaseError
from pgstream.database.sqlstates import translate
from pgstream.errors import SourceChanged
from pgstream.refresh.judge import Verdict, judge
from pgstream.sql.rename_tables import Renames, rename_tables


def follow_ddl(connection: Connection, changes: Iterable[Changed]) -> None:
    """Raises the error of the first stream table that cannot be computed any more."""
    errors = []
    by_table = groupby(sorted(changes, key=_table_id), key=_table_id)
    with connection.transaction():
        for table_id, found in by_table:
            (table,) = store.stream_tables(connection, [table_id])
            errors.append(_follow(connection, table, list(found)))
    for error in filter(None, errors):
        raise error


def _table_id(changed: Changed) -> int:
    return changed.table_id


def _follow(
    connection: Connection, table: StreamTable, changes: Sequence[Changed]
) -> SourceChanged | None:
    try:
        with connection.transaction():
            _rename(connection, table, changes)
            _install(connection, changes)
            verdicts = _verdicts(connection, changes)
            broken = [verdict.broken for verdict in verdicts if verdict.broken]
            if not broken:
                _adopt(connection, table, verdicts)
                return None
    except DatabaseError as error:
        _install_apart(connection, changes)
        return _refusal(connection, table, translate(error).message)
    return _refusal(connection, table, ", ".join(broken))


def _rename(connection: Connection, table: StreamTable, changes: Sequence[Changed]) -> None:
    renames: Renames = {
        (each.before["schema"], each.before["name"]): (each.after["schema"], each.after["name"])
        for each in changes
        if each.is_renamed and each.after is not None
    }
    if renames:
        store.save_texts(connection, table.id, lambda text: rename_tables(text, renames))
        store.save_names(connection, table.id)


def _install(connection: Connection, changes: Sequence[Changed]) -> None:
    """Of what is captured, and can be."""
    for each in changes:
        if each.relid is None or each.after is None or each.after.get("row security"):
            continue
        connection.execute(
            "SELECT pgstream._install_capture(source_relid) FROM pgstream.pgs_change_tracking"
            " WHERE source_relid = %s",
            (each.relid,),
        )


def _install_apart(connection: Connection, changes: Sequence[Changed]) -> None:
    """For the other readers: what one of them cannot read must not keep them from going on."""
    with suppress(DatabaseError), connection.transaction():  # each is told at its own refresh
        _install(connection, changes)


def _verdicts(connection: Connection, changes: Sequence[Changed]) -> list[Verdict]:
    """After capture is installed: what was untouched then stays so, or is captured."""
    came = frozenset[int]().union(*(each.members_came for each in changes))
    rows = connection.execute(
        "SELECT m::bigint FROM unnest(%s::oid[]) m WHERE pgstream._is_untouched(m)", (list(came),)
    ).fetchall()
    untouched = frozenset(row[0] for row in rows)
    return [judge(each, untouched) for each in changes]


def _adopt(connection: Connection, table: StreamTable, verdicts: Sequence[Verdict]) -> None:
    if any(verdict.rereads for verdict in verdicts):
        connection.execute("SELECT pgstream._reread(%s)", (table.id,))
    reasons = [verdict.restarts for verdict in verdicts if verdict.restarts]
    if reasons:
        store.ask_for_reinit(connection, table.id, "; ".join(reasons))
    connection.execute("SELECT pgstream._save_shapes(%s)", (table.id,))


def _refusal(connection: Connection, table: StreamTable, why: str) -> SourceChanged:
    store.ask_for_reinit(connection, table.id, why)
    return SourceChanged(
        f"{table.full_name} can no longer be computed: {why}.",
        hint=f"Undo that and refresh {table.full_name}, or drop it and create it again. If the"
        " database was restored: pgstream repair",
        table_id=table.id,
    )
