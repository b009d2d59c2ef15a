"""Wake: which tables on change have something to do, soon after a transaction has committed.

A capture trigger moves the sequence of its buffer, which everybody sees at once; so one cheap
query tells that something may have come. It may not be committed yet, or never be. So the tables
that read the source are asked, by what a refresh would see of the buffers, until every transaction
that could have moved the sequence has ended.

The sequence of requests is looked at in the same query. Where sources are captured from the WAL,
its end is, too: when it has moved, the WAL is decoded into the buffers, whose sequences tell more.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass
from typing import Any

from pgstream.capture.wal.drain import drain_unless_busy
from pgstream.database.connection import Connection, DatabaseError
from pgstream.errors import PgStreamError
from pgstream.refresh.idle import idle
from pgstream.schedule.timetable import Timetable
from pgstream.settings import Settings

FASTEST, SLOWEST = 0.005, 0.04
"""Seconds between two looks: while something moves, and while nothing does."""
REQUESTS_SECONDS = 0.1
"""Without tables on change; and how often requests are looked for that move no sequence."""

_SEQUENCES = """
SELECT relid, pg_get_serial_sequence(format('pgstream_changes.changes_%%s', relid),
                                     '__pgs_change_id')::regclass::oid::bigint
FROM unnest(%s::bigint[]) relid
WHERE to_regclass(format('pgstream_changes.changes_%%s', relid)) IS NOT NULL
"""
_FROM_WAL = """
SELECT coalesce(bool_or(pgstream._is_wal_captured(relid::oid)), false)
FROM unnest(%s::bigint[]) relid
"""
_REQUESTS = "SELECT 'pgstream.pgs_requests'::regclass::oid::bigint"
_LOOK = """
SELECT pg_current_snapshot()::text, pg_current_wal_insert_lsn()::text,
       ARRAY(SELECT coalesce(pg_sequence_last_value(s::oid::regclass), 0)
             FROM unnest(%s::bigint[]) WITH ORDINALITY AS t(s, place) ORDER BY place)
"""
_TRANSACTIONS = "SELECT pg_current_snapshot()::text, age('3'::xid)"
FIRST_XID = 3
"""How many transactions ago it was: so the next one is known, without beginning one."""


@dataclass(frozen=True, slots=True)
class Transactions:
    """Of this moment."""

    snapshot: str
    next32: int
    """The lower half of the next transaction's id. A snapshot does not know it: it ends with the
    last transaction that has ended."""

    @property
    def oldest(self) -> int:
        """Below it all have ended."""
        return int(self.snapshot.split(":")[0])

    @property
    def next(self) -> int:
        """From it on none has begun to write."""
        ended = int(self.snapshot.split(":")[1])
        return ended + (self.next32 - ended) % 2**32


class Wake:
    """In memory: a new worker asks everybody once."""

    def __init__(self) -> None:
        self._requests: int | None = None
        self._listeners: dict[int, Set[int]] = {}
        """By sequence, the tables that its source concerns."""
        self._values: dict[int, int] = {}
        """Of sequences, at the last look."""
        self._open: dict[int, int | None] = {}
        """Tables to ask: until all transactions below this one have ended; None: not known yet."""
        self._asked: dict[int, str] = {}
        """The snapshot in which a table was asked: in the same one it gives the same answer."""
        self._seen = ""
        self._from_wal = False
        self._decoded = ""
        """The end of the WAL after it was last decoded."""
        self._pause = FASTEST

    @property
    def request_number(self) -> int:
        """How many requests there have been."""
        return self._values.get(self._requests or 0, 0)

    @property
    def seconds(self) -> float:
        """How long to wait until the next look."""
        return self._pause if self._listeners else REQUESTS_SECONDS / 4

    def follow(self, connection: Connection, timetable: Timetable) -> None:
        """Which sequences matter. What was not followed before may have changed."""
        listeners: dict[int, set[int]] = {}
        for id_ in timetable.on_change:
            for relid in timetable.sources(id_):
                listeners.setdefault(relid, set()).add(id_)
        found = connection.execute(_SEQUENCES, (list(listeners),)).fetchall()
        self._listeners = {sequence: listeners[relid] for relid, sequence in found}
        self._from_wal = bool(_value(connection, _FROM_WAL, list(listeners)))
        self._requests = int(_value(connection, _REQUESTS))
        followed = {*self._listeners, self._requests}
        self._values = {s: value for s, value in self._values.items() if s in followed}
        alive = set(timetable.on_change)
        self._open = {id_: until for id_, until in self._open.items() if id_ in alive}

    def look(self, connection: Connection) -> bool:
        """Notices what has moved; whether somebody has asked for a refresh since."""
        sequences = [self._requests or 0, *self._listeners]
        row = connection.execute(_LOOK, (sequences,)).fetchone()
        assert row is not None
        self._seen, end, values = row
        if self._from_wal and end != self._decoded:
            self._decode(connection)
        moved = {
            sequence
            for sequence, value in zip(sequences, values, strict=True)
            if value != self._values.get(sequence)
        }
        self._values = dict(zip(sequences, values, strict=True))
        self.suspect(id_ for sequence in moved for id_ in self._listeners.get(sequence, ()))
        self._pause = FASTEST if moved else min(self._pause * 1.25, SLOWEST)
        return self._requests in moved

    def _decode(self, connection: Connection) -> None:
        """What is wrong with the slot is left to the next refresh, which mends it."""
        try:
            if not drain_unless_busy(connection):
                return
        except (PgStreamError, DatabaseError):
            if connection.closed:
                raise
        self._decoded = str(_value(connection, "SELECT pg_current_wal_insert_lsn()::text"))

    def suspect(self, ids: Iterable[int]) -> None:
        """They are asked until all who write now have ended."""
        for id_ in ids:
            self._open[id_] = None
            self._asked.pop(id_, None)

    def doubt(self, ids: Iterable[int]) -> None:
        """They are asked once."""
        for id_ in ids:
            self._open.setdefault(id_, 0)
            self._asked.pop(id_, None)

    def again(self, ids: Iterable[int]) -> None:
        """They have been refreshed, or were not: what they answered is of no use any more."""
        for id_ in ids:
            self._asked.pop(id_, None)

    def changed(
        self, connection: Connection, timetable: Timetable, settings: Settings, spared: Set[int]
    ) -> set[int]:
        """Those that have something to do; `spared` are not asked."""
        wanted = [
            id_
            for id_ in self._open
            if id_ not in spared and id_ in timetable.tables and self._asked.get(id_) != self._seen
        ]
        if not wanted:
            return set()
        # Later than the look: it knows all who moved the sequences.
        now = _transactions(connection)
        tables = [timetable.tables[id_] for id_ in wanted]
        quiet = idle(connection, tables, settings)
        for id_ in wanted:
            until = self._open[id_]
            self._open[id_] = until = now.next if until is None else until
            self._asked[id_] = now.snapshot
            if id_ in quiet and now.oldest >= until:
                del self._open[id_], self._asked[id_]
        return set(wanted) - quiet


def _transactions(connection: Connection) -> Transactions:
    row = connection.execute(_TRANSACTIONS).fetchone()
    assert row is not None
    return Transactions(row[0], (row[1] + FIRST_XID) % 2**32)


def _value(connection: Connection, query: str, *parameters: Any) -> Any:
    row = connection.execute(query.encode(), parameters or None).fetchone()
    assert row is not None
    return row[0]
