"""settle: before the snapshot of a refresh, its sources are captured as the setting wants.

trigger  by triggers
auto     from the WAL where that is possible, once the stream table holds a result
wal      from the WAL; where that is impossible, the refresh fails
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import psycopg

from pgstream.capture.wal.fall_back import fall_back
from pgstream.capture.wal.slot import slot_trouble
from pgstream.capture.wal.source import wal_sources
from pgstream.capture.wal.transition import give_up, transition
from pgstream.errors import WalUnavailable

_SOURCES = """
SELECT t.source_relid::bigint, pgstream._relation_name(t.source_relid),
       t.wal_since IS NOT NULL, bool_or(d.cdc_mode = 'TRANSITIONING'), bool_and(s.is_populated)
FROM pgstream.pgs_change_tracking t
JOIN pgstream.pgs_dependencies d USING (source_relid)
JOIN pgstream.pgs_stream_tables s USING (pgs_id)
JOIN pg_class c ON c.oid = t.source_relid
WHERE d.pgs_id = ANY(%s) AND d.pgs_id = ANY(t.tracked_by_pgs_ids) AND d.source_type = 'TABLE'
GROUP BY t.source_relid ORDER BY t.source_relid
"""


@dataclass(frozen=True, slots=True)
class Captured:
    """A source, as the catalog has it."""

    relid: int
    name: str
    from_wal: bool
    in_transition: bool
    is_read: bool
    """Whether all of the refreshed tables that read it hold a result."""


def settle(connection: psycopg.Connection, ids: Iterable[int], mode: str, timeout: int) -> None:
    """For the sources of these stream tables; the slot is the whole database's."""
    rows = connection.execute(_SOURCES, (list(ids),)).fetchall()
    sources = [Captured(*row) for row in rows]
    if any(source.from_wal for source in sources) and _leave_what_is_broken(connection):
        sources = [Captured(*row) for row in connection.execute(_SOURCES, (list(ids),)).fetchall()]
    if mode == "trigger":
        _to_triggers(connection, sources)
        return
    for source in sources:
        if not source.from_wal:
            _to_wal(connection, source, mode, timeout)


def _leave_what_is_broken(connection: psycopg.Connection) -> bool:
    """Of the whole database; whether there was such."""
    of_all = slot_trouble(connection)
    broken = {
        relid: trouble
        for relid, source in wal_sources(connection).items()
        if (trouble := of_all or source.trouble) is not None
    }
    for relid, trouble in broken.items():
        fall_back(connection, [relid], trouble)
    if broken:
        connection.execute("SELECT pgstream._drop_unused_slot()")
    return bool(broken)


def _to_triggers(connection: psycopg.Connection, sources: Sequence[Captured]) -> None:
    changed = [source for source in sources if source.from_wal or source.in_transition]
    for source in changed:
        if source.from_wal:
            fall_back(connection, [source.relid], "cdc_mode is trigger")
        else:
            give_up(connection, source.relid, "cdc_mode is trigger")
    if changed:
        connection.execute("SELECT pgstream._drop_unused_slot()")


def _to_wal(connection: psycopg.Connection, source: Captured, mode: str, timeout: int) -> None:
    row = connection.execute(
        "SELECT problem, way_out FROM pgstream._wal_obstacle(%s::bigint::oid)", (source.relid,)
    ).fetchone()
    problem, way_out = row if row else (None, None)
    if problem is None and source.is_read:
        problem = transition(connection, source.relid, timeout)
    elif problem is not None and source.in_transition:
        give_up(connection, source.relid, problem)
    if problem is not None and mode == "wal":
        raise WalUnavailable(
            f"The changes of {source.name} cannot be captured from the WAL.",
            detail=f"Because {problem}.",
            hint=f"{way_out or 'Look at the server.'} Or set pg_stream.cdc_mode to auto.",
        )
