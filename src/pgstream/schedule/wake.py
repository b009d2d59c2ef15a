"""Wake: which tables on change have something to do, soon after a transaction has committed.

A capture trigger moves the sequence of its buffer, which everybody sees at once; so one cheap
query tells that something may have come. It may not be committed yet, or never be. So the tables
that read the source are asked, by what a refresh would see of the buffers, until every transaction
that could have moved the sequence has ended.

The sequence of requests is looked at in the same query. Where sources are captured from the WAL,
its end is, too: when it has moved, the WAL is decoded into the buffers. Nobody is asked then: the
WAL has what is committed only, and a refresh decodes all that its snapshot sees.
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
REQUESTS = 0.025
"""The same without tables on change: requests are looked for."""

_SEQUENCES = """
SELECT relid, pg_get_serial_sequence(pgstream._buffer_name(relid::oid),
                                     '__pgs_change_id')::regclass::oid::bigint
FROM unnest(%s::bigint[]) relid
WHERE to_regclass(pgstream._buffer_name(relid::oid)) IS NOT NULL
"""
_FROM_WAL = """
SELECT relid FROM unnest(%s::bigint[]) relid WHERE pgstream._is_wal_captured(relid::oid)
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
        self._from_wal: frozenset[int] = frozenset()
        """Sequences of buffers that are filled from the WAL."""
        self._by_wal: frozenset[int] = frozenset()
        """Tables that read such: what their buffers hold does not tell whether they are idle."""
        self._due: set[int] = set()
        """Tables that need not be asked."""
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
        return self._pause if self._listeners else REQUESTS

    def follow(self, connection: Connection, timetable: Timetable) -> None:
        """Which sequences matter. What was not followed before may have changed."""
        sources = {id_: timetable.sources(id_) for id_ in timetable.on_change}
        relids = list(frozenset().union(*sources.values()))
        wal = {row[0] for row in connection.execute(_FROM_WAL, (relids,)).fetchall()}
        sequences: dict[int, int] = dict(connection.execute(_SEQUENCES, (relids,)).fetchall())
        self._by_wal = frozenset(id_ for id_, read in sources.items() if read & wal)
        for id_ in self._by_wal:
            # Its own refreshes move the buffers in between. Who else does reads what it reads.
            sources[id_] -= {timetable.tables[each].relid for each in timetable.covers(id_)}
        self._from_wal = frozenset(sequences[relid] for relid in wal if relid in sequences)
        self._listeners = {
            sequence: {id_ for id_, read in sources.items() if relid in read}
            for relid, sequence in sequences.items()
        }
        self._due |= {id_ for id_ in self._by_wal if timetable.tables[id_].needs_reinit}
        self._requests = int(_value(connection, _REQUESTS))
        followed = {*self._listeners, self._requests}
        self._values = {s: value for s, value in self._values.items() if s in followed}
        self._open = {id_: until for id_, until in self._open.items() if id_ in sources}
        self._due &= sources.keys()

    def look(self, connection: Connection) -> bool:
        """Notices what has moved; whether somebody has asked for a refresh since."""
        sequences = [self._requests or 0, *self._listeners]
        end, values = self._read(connection, sequences)
        if self._from_wal and end != self._decoded and self._decode(connection):
            _, values = self._read(connection, sequences)
        found = dict(zip(sequences, values, strict=True))
        moved = {each for each, value in found.items() if value != self._values.get(each)}
        self._values = found
        for sequence in moved & self._listeners.keys():
            if sequence in self._from_wal:
                self._due |= self._listeners[sequence]
            else:
                self.suspect(self._listeners[sequence])
        self._pause = FASTEST if moved else min(self._pause * 1.25, SLOWEST)
        return self._requests in moved

    def _read(self, connection: Connection, sequences: list[int]) -> tuple[str, list[int]]:
        """The end of the WAL, and the values."""
        row = connection.execute(_LOOK, (sequences,)).fetchone()
        assert row is not None
        self._seen, end, values = row
        return end, values

    def _decode(self, connection: Connection) -> bool:
        """Whether it was done. What is wrong with the slot is left to the next refresh, which mends
        it."""
        try:
            if not drain_unless_busy(connection):
                return False
        except (PgStreamError, DatabaseError):
            if connection.closed:
                raise
        self._decoded = str(_value(connection, "SELECT pg_current_wal_insert_lsn()::text"))
        return True

    def suspect(self, ids: Iterable[int]) -> None:
        """They are asked until all who write now have ended."""
        for id_ in ids:
            self._open[id_] = None
            self._asked.pop(id_, None)

    def doubt(self, ids: Iterable[int]) -> None:
        """They are asked once."""
        for id_ in set(ids) - self._by_wal:
            self._open.setdefault(id_, 0)
            self._asked.pop(id_, None)

    def again(self, ids: Iterable[int]) -> None:
        """They have been refreshed, or were not: what they answered is of no use any more."""
        for id_ in ids:
            self._asked.pop(id_, None)

    def changed(
        self, connection: Connection, timetable: Timetable, settings: Settings, spared: Set[int]
    ) -> set[int]:
        """Those that have something to do; `spared` are left for later."""
        due = {id_ for id_ in self._due - spared if id_ in timetable.tables}
        self._due -= due
        wanted = [
            id_
            for id_ in self._open
            if id_ not in spared and id_ in timetable.tables and self._asked.get(id_) != self._seen
        ]
        if not wanted:
            return due
        # Later than the look: it knows all who moved the sequences.
        now = _transactions(connection)
        quiet = self._quiet(connection, timetable, settings, wanted)
        for id_ in wanted:
            until = self._open[id_]
            is_new = until is None
            self._open[id_] = until = now.next if until is None else until
            self._asked[id_] = now.snapshot
            have_ended = now.oldest >= until
            if have_ended and id_ in quiet | self._by_wal:
                del self._open[id_], self._asked[id_]
            if id_ in self._by_wal and (is_new or have_ended):
                due.add(id_)
        return due | set(wanted) - quiet - self._by_wal

    def _quiet(
        self, connection: Connection, timetable: Timetable, settings: Settings, ids: list[int]
    ) -> set[int]:
        asked = [timetable.tables[id_] for id_ in ids if id_ not in self._by_wal]
        return idle(connection, asked, settings) if asked else set()


def _transactions(connection: Connection) -> Transactions:
    row = connection.execute(_TRANSACTIONS).fetchone()
    assert row is not None
    return Transactions(row[0], (row[1] + FIRST_XID) % 2**32)


def _value(connection: Connection, query: str, *parameters: Any) -> Any:
    row = connection.execute(query.encode(), parameters or None).fetchone()
    assert row is not None
    return row[0]
