"""The decoder of pgoutput, over messages that are built by hand."""

from __future__ import annotations

import struct

import pytest

from pgstream.capture.wal.messages import (
    UNCHANGED,
    Begin,
    Binary,
    Column,
    Commit,
    Delete,
    Identity,
    Insert,
    LogicalMessage,
    Message,
    Origin,
    Relation,
    Truncate,
    Type,
    Update,
)
from pgstream.capture.wal.pgoutput import REFUSED, decode
from pgstream.errors import DecodingError


def row(*values: bytes) -> bytes:
    return struct.pack(">h", len(values)) + b"".join(values)


def text(value: bytes) -> bytes:
    return b"t" + struct.pack(">i", len(value)) + value


RELATION = (
    b"R" + struct.pack(">I", 4_000_000_000) + b"public\0orders\0f" + struct.pack(">h", 2)
    + b"\1id\0" + struct.pack(">Ii", 23, -1) + b"\0note\0" + struct.pack(">Ii", 1043, 24)
)  # fmt: skip

MESSAGES: dict[str, tuple[bytes, Message]] = {
    "begin": (b"B" + struct.pack(">QqI", 100, -5, 2**32 - 1), Begin(100, -5, 2**32 - 1)),
    "commit": (b"C\0" + struct.pack(">QQq", 100, 140, 7), Commit(100, 140, 7)),
    "origin": (b"O" + struct.pack(">Q", 9) + b"north\0", Origin(9, "north")),
    "relation": (
        RELATION,
        Relation(
            4_000_000_000,
            "public",
            "orders",
            Identity.FULL,
            (Column("id", 23, -1, True), Column("note", 1043, 24, False)),
        ),
    ),
    "relation of the system": (
        b"R" + struct.pack(">I", 1) + b"\0t\0n" + struct.pack(">h", 0),
        Relation(1, "pg_catalog", "t", Identity.NOTHING, ()),
    ),
    "type": (b"Y" + struct.pack(">I", 16400) + b"public\0mood\0", Type(16400, "public", "mood")),
    "insert": (
        b"I" + struct.pack(">I", 7) + b"N" + row(text(b"1"), b"n", text(b"")),
        Insert(7, (b"1", None, b"")),
    ),
    "insert of no columns": (b"I" + struct.pack(">I", 7) + b"N" + row(), Insert(7, ())),
    "update": (
        b"U" + struct.pack(">I", 7) + b"N" + row(text(b"1"), b"u"),
        Update(7, (b"1", UNCHANGED)),
    ),
    "update with key": (
        b"U" + struct.pack(">I", 7) + b"K" + row(text(b"1"), b"n") + b"N" + row(text(b"2"), b"u"),
        Update(7, (b"2", UNCHANGED), key=(b"1", None)),
    ),
    "update with old row": (
        b"U" + struct.pack(">I", 7) + b"O" + row(text(b"1")) + b"N" + row(text(b"2")),
        Update(7, (b"2",), old=(b"1",)),
    ),
    "delete by key": (
        b"D" + struct.pack(">I", 7) + b"K" + row(text(b"1"), b"n"),
        Delete(7, key=(b"1", None)),
    ),
    "delete with old row": (
        b"D" + struct.pack(">I", 7) + b"O" + row(b"b\0\0\0\2\0\1"),
        Delete(7, old=(Binary(b"\0\1"),)),
    ),
    "truncate": (
        b"T" + struct.pack(">ibII", 2, 3, 7, 8),
        Truncate((7, 8), cascade=True, restart_identity=True),
    ),
    "logical message": (
        b"M\1" + struct.pack(">Q", 55) + b"app\0" + struct.pack(">i", 3) + b"a\0b",
        LogicalMessage(55, "app", b"a\0b", is_transactional=True),
    ),
}


@pytest.mark.parametrize("kind", MESSAGES)
def test_each_kind_is_decoded(kind: str) -> None:
    data, wanted = MESSAGES[kind]
    assert decode(data) == wanted


@pytest.mark.parametrize("kind", MESSAGES)
def test_each_kind_is_refused_when_it_is_cut_off(kind: str) -> None:
    data, _ = MESSAGES[kind]
    for end in range(len(data)):
        with pytest.raises(DecodingError):
            decode(data[:end])


@pytest.mark.parametrize("kind", MESSAGES)
def test_each_kind_is_refused_with_something_left_over(kind: str) -> None:
    with pytest.raises(DecodingError, match="1 bytes are left over"):
        decode(MESSAGES[kind][0] + b"\0")


@pytest.mark.parametrize("kind", REFUSED)
def test_streamed_and_prepared_transactions_are_refused_by_name(kind: str) -> None:
    with pytest.raises(DecodingError, match=REFUSED[kind]):
        decode(kind.encode() + bytes(20))


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"Z", "its kind 'Z' is unknown"),
        (b"I" + struct.pack(">I", 7) + b"O" + row(), "the mark of a row is 'O', not 'N'"),
        (b"D" + struct.pack(">I", 7) + b"N" + row(), "the mark 'N' of an old row is unknown"),
        (b"U" + struct.pack(">I", 7) + b"X" + row(), "the mark 'X' of an old row is unknown"),
        (b"I" + struct.pack(">I", 7) + b"N" + row(b"x"), "a value is of the unknown kind 'x'"),
        (b"I" + struct.pack(">I", 7) + b"N" + row(b"t" + struct.pack(">i", -4)), "a length is -4"),
        (b"R" + struct.pack(">I", 1) + b"s\0t\0x" + bytes(2), "replica identity 'x' is unknown"),
        (b"O" + struct.pack(">Q", 9) + b"north", "a text has no end"),
    ],
)
def test_malformed_messages_say_what_is_wrong(data: bytes, complaint: str) -> None:
    with pytest.raises(DecodingError, match=complaint):
        decode(data)


def test_names_are_in_the_encoding_of_the_connection() -> None:
    data = b"O" + struct.pack(">Q", 9) + "Köln".encode("latin-1") + b"\0"
    assert decode(data, "latin-1") == Origin(9, "Köln")
