"""What pgoutput sends, as frozen records: one per kind of message.

A value of a row is its text as bytes, None for NULL, a `Binary`, or `UNCHANGED` for a value in
TOAST that an UPDATE did not touch and did not send.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final


class Missing(Enum):
    UNCHANGED = "unchanged"


UNCHANGED: Final = Missing.UNCHANGED


@dataclass(frozen=True, slots=True)
class Binary:
    """A value in the binary form of its type."""

    data: bytes


Value = bytes | Binary | Missing | None
Row = tuple[Value, ...]


class Identity(Enum):
    """How much of the old row is sent: REPLICA IDENTITY."""

    DEFAULT = "d"
    NOTHING = "n"
    FULL = "f"
    INDEX = "i"


@dataclass(frozen=True, slots=True)
class Begin:
    """All rows up to `Commit` are of this transaction; savepoints do not show."""

    commit_lsn: int
    committed_at: int
    """Microseconds since 2000-01-01 UTC."""
    xid: int
    """The lower 32 bits."""


@dataclass(frozen=True, slots=True)
class Commit:
    commit_lsn: int
    end_lsn: int
    committed_at: int


@dataclass(frozen=True, slots=True)
class Origin:
    """The transaction came from another server."""

    commit_lsn: int
    name: str


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type_oid: int
    typmod: int
    is_key: bool


@dataclass(frozen=True, slots=True)
class Relation:
    """The shape of a table, before its first row and after each change of its shape."""

    relid: int
    schema: str
    name: str
    identity: Identity
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Type:
    """The name of a type that is not PostgreSQL's own."""

    oid: int
    schema: str
    name: str


@dataclass(frozen=True, slots=True)
class Insert:
    relid: int
    new: Row


@dataclass(frozen=True, slots=True)
class Update:
    """At most one of `key` and `old` is sent: the old key columns, or the whole old row."""

    relid: int
    new: Row
    key: Row | None = None
    old: Row | None = None


@dataclass(frozen=True, slots=True)
class Delete:
    relid: int
    key: Row | None = None
    old: Row | None = None


@dataclass(frozen=True, slots=True)
class Truncate:
    relids: tuple[int, ...]
    cascade: bool
    restart_identity: bool


@dataclass(frozen=True, slots=True)
class LogicalMessage:
    """What somebody wrote with pg_logical_emit_message."""

    lsn: int
    prefix: str
    content: bytes
    is_transactional: bool


Message = (
    Begin | Commit | Origin | Relation | Type | Insert | Update | Delete | Truncate | LogicalMessage
)
