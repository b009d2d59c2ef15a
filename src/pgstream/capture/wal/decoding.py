"""Decoding: from the messages of a slot to the lines of buffers.

A line is what COPY reads: xid, LSN, action, weight, then the columns. An update is two lines. The
old row must be whole; PostgreSQL sends it so under REPLICA IDENTITY FULL, and a value in TOAST that
an update left alone is found there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from pgstream.capture.wal.lsn import full_xid, lsn_text
from pgstream.capture.wal.messages import (
    UNCHANGED,
    Begin,
    Commit,
    Delete,
    Insert,
    Relation,
    Row,
    Truncate,
    Update,
    Value,
)
from pgstream.capture.wal.pgoutput import decode
from pgstream.capture.wal.source import Lost, WalSource

_SPECIAL = re.compile(rb"[\\\t\n\r]")


class Decoding:
    """One reading of a slot. Transactions that committed before `start` are known and left out."""

    def __init__(
        self, sources: Mapping[int, WalSource], start: int, near_xid: int, encoding: str
    ) -> None:
        self.sources, self.start, self.near_xid = sources, start, near_xid
        self.encoding = encoding
        self.end = start
        """Behind the last commit."""
        self.lines: dict[int, list[bytes]] = {}
        """By relid; whoever writes them takes them out."""
        self._shapes: dict[int, Relation] = {}
        self._positions: dict[int, tuple[int, ...]] = {}
        self._xid: bytes | None = None

    def feed(self, lsn: int, data: bytes) -> None:
        message = decode(data, self.encoding)
        if isinstance(message, Insert | Update | Delete):
            self._change(lsn, message)
        elif isinstance(message, Begin):
            is_new = message.commit_lsn >= self.start
            xid = full_xid(message.xid, self.near_xid)
            self._xid = str(xid).encode() if is_new else None
        elif isinstance(message, Commit):
            self.end = max(self.end, message.end_lsn)
            self._xid = None
        elif isinstance(message, Relation):
            self._shapes[message.relid] = message
            self._positions.pop(message.relid, None)
        elif isinstance(message, Truncate):
            for relid in message.relids:
                if self._is_wanted(relid, lsn):
                    self._add(relid, lsn, b"T\t0", [None] * len(self.sources[relid].columns))

    def _change(self, lsn: int, change: Insert | Update | Delete) -> None:
        relid = change.relid
        if not self._is_wanted(relid, lsn):
            return
        if isinstance(change, Insert):
            self._add(relid, lsn, b"I\t1", self._picked(relid, change.new))
            return
        old = self._picked(relid, self._whole(change))
        if isinstance(change, Delete):
            self._add(relid, lsn, b"D\t-1", old)
        else:
            new = completed(self._picked(relid, change.new), old)
            if new != old:  # another column may be all that has changed
                self._add(relid, lsn, b"U\t-1", old)
                self._add(relid, lsn, b"U\t1", new)

    def _is_wanted(self, relid: int, lsn: int) -> bool:
        """Of a new transaction, and not told by triggers."""
        source = self.sources.get(relid)
        return self._xid is not None and source is not None and lsn >= source.since

    def _whole(self, change: Update | Delete) -> Row:
        if change.old is None:
            shape = self._shapes[change.relid]
            name = f"{shape.schema}.{shape.name}"
            raise Lost([change.relid], f"the REPLICA IDENTITY of {name} is no longer FULL")
        return change.old

    def _picked(self, relid: int, row: Row) -> list[Value]:
        positions = self._positions.get(relid)
        if positions is None:
            positions = self.sources[relid].positions(self._shapes[relid])
            self._positions[relid] = positions
        return [row[at] for at in positions]

    def _add(self, relid: int, lsn: int, what: bytes, values: Iterable[Value]) -> None:
        assert self._xid is not None
        parts = [self._xid, lsn_text(lsn).encode(), what]
        parts += [
            escaped(value) if type(value) is bytes else self._rare(relid, value) for value in values
        ]
        self.lines.setdefault(relid, []).append(b"\t".join(parts) + b"\n")

    def _rare(self, relid: int, value: Value) -> bytes:
        """A value that is not a text, as COPY reads it."""
        if value is None:
            return b"\\N"
        raise Lost([relid], "the slot sends a value that is not a text")


def completed(new: list[Value], old: list[Value]) -> list[Value]:
    """The new row, with the old row's values where they are unchanged and not sent."""
    return [before if now is UNCHANGED else now for now, before in zip(new, old, strict=True)]


def escaped(value: bytes) -> bytes:
    """
    >>> escaped(b"a\\tb")
    b'a\\\\tb'
    """
    if _SPECIAL.search(value) is None:
        return value
    value = value.replace(b"\\", b"\\\\")  # first, for the others bring some
    return value.replace(b"\t", b"\\t").replace(b"\n", b"\\n").replace(b"\r", b"\\r")
