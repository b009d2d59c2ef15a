"""pgoutput: from the bytes of PostgreSQL's logical replication protocol, version 1, to records.

Version 1 knows neither transactions that are sent before they commit nor prepared ones. Their
messages are refused by name: taking one for a committed change would give wrong rows.
"""

from __future__ import annotations

from collections.abc import Callable

from pgstream.capture.wal.fields import Fields, malformed
from pgstream.capture.wal.messages import (
    Begin,
    Column,
    Commit,
    Delete,
    Identity,
    Insert,
    LogicalMessage,
    Message,
    Origin,
    Relation,
    Row,
    Truncate,
    Type,
    Update,
)
from pgstream.errors import DecodingError

_CASCADE, _RESTART_IDENTITY = 1, 2
_TRANSACTIONAL = 1
_KEY = 1
_IDENTITIES = {each.value for each in Identity}

REFUSED = {
    "S": "the start of a streamed transaction",
    "E": "the end of a part of a streamed transaction",
    "c": "the commit of a streamed transaction",
    "A": "the abort of a streamed transaction",
    "b": "the start of a prepared transaction",
    "P": "a prepared transaction",
    "K": "the commit of a prepared transaction",
    "r": "the rollback of a prepared transaction",
    "p": "a prepared transaction that was streamed",
}


def decode(data: bytes, encoding: str = "utf-8") -> Message:
    """One message. `encoding` is the connection's: PostgreSQL converts texts to it."""
    fields = Fields(data, encoding)
    kind = fields.byte()
    if kind in REFUSED:
        raise DecodingError(
            f"The replication slot sends {REFUSED[kind]}, which pgstream does not read.",
            hint="pgstream asks for protocol version 1; let nobody else read its slot.",
        )
    reader = _READERS.get(kind)
    if reader is None:
        raise malformed(data, f"its kind {kind!r} is unknown")
    message = reader(fields)
    fields.end()
    return message


def _begin(fields: Fields) -> Begin:
    return Begin(fields.lsn(), fields.timestamp(), fields.oid())


def _commit(fields: Fields) -> Commit:
    fields.int8()  # flags, unused
    return Commit(fields.lsn(), fields.lsn(), fields.timestamp())


def _origin(fields: Fields) -> Origin:
    return Origin(fields.lsn(), fields.text())


def _relation(fields: Fields) -> Relation:
    relid, schema, name, identity = fields.oid(), fields.text(), fields.text(), fields.byte()
    if identity not in _IDENTITIES:
        raise malformed(fields.data, f"the replica identity {identity!r} is unknown")
    columns = tuple(_column(fields) for _ in range(fields.int16()))
    # PostgreSQL leaves its own schema empty.
    return Relation(relid, schema or "pg_catalog", name, Identity(identity), columns)


def _column(fields: Fields) -> Column:
    is_key = bool(fields.int8() & _KEY)
    return Column(fields.text(), fields.oid(), fields.int32(), is_key)


def _type(fields: Fields) -> Type:
    return Type(fields.oid(), fields.text() or "pg_catalog", fields.text())


def _insert(fields: Fields) -> Insert:
    relid = fields.oid()
    return Insert(relid, _marked(fields, "N"))


def _update(fields: Fields) -> Update:
    relid, mark = fields.oid(), fields.byte()
    if mark == "N":
        return Update(relid, fields.row())
    old = _old(fields, mark)
    new = _marked(fields, "N")
    return Update(relid, new, key=old) if mark == "K" else Update(relid, new, old=old)


def _delete(fields: Fields) -> Delete:
    relid, mark = fields.oid(), fields.byte()
    old = _old(fields, mark)
    return Delete(relid, key=old) if mark == "K" else Delete(relid, old=old)


def _truncate(fields: Fields) -> Truncate:
    count, options = fields.int32(), fields.int8()
    relids = tuple(fields.oid() for _ in range(count))
    return Truncate(relids, bool(options & _CASCADE), bool(options & _RESTART_IDENTITY))


def _message(fields: Fields) -> LogicalMessage:
    flags, lsn, prefix = fields.int8(), fields.lsn(), fields.text()
    return LogicalMessage(lsn, prefix, fields.counted(), bool(flags & _TRANSACTIONAL))


def _old(fields: Fields, mark: str) -> Row:
    if mark not in ("K", "O"):
        raise malformed(fields.data, f"the mark {mark!r} of an old row is unknown")
    return fields.row()


def _marked(fields: Fields, wanted: str) -> Row:
    mark = fields.byte()
    if mark != wanted:
        raise malformed(fields.data, f"the mark of a row is {mark!r}, not {wanted!r}")
    return fields.row()


_READERS: dict[str, Callable[[Fields], Message]] = {
    "B": _begin,
    "C": _commit,
    "O": _origin,
    "R": _relation,
    "Y": _type,
    "I": _insert,
    "U": _update,
    "D": _delete,
    "T": _truncate,
    "M": _message,
}
