"""From messages to the lines of buffers, over messages that are built by hand."""

from __future__ import annotations

import struct

import pytest

from pgstream.capture.wal.decoding import Decoding, escaped
from pgstream.capture.wal.source import Lost, WalSource

NULL, UNCHANGED = b"n", b"u"


def row(*values: bytes) -> bytes:
    return struct.pack(">h", len(values)) + b"".join(values)


def text(value: bytes) -> bytes:
    return b"t" + struct.pack(">i", len(value)) + value


def begin(commit_lsn: int, xid: int = 5) -> bytes:
    return b"B" + struct.pack(">QqI", commit_lsn, 0, xid)


def commit(commit_lsn: int) -> bytes:
    return b"C\0" + struct.pack(">QQq", commit_lsn, commit_lsn + 8, 0)


def relation(*columns: tuple[bytes, int]) -> bytes:
    listed = [b"\1" + name + b"\0" + struct.pack(">Ii", oid, -1) for name, oid in columns]
    return (
        b"R"
        + struct.pack(">I", 7)
        + b"public\0t\0f"
        + struct.pack(">h", len(listed))
        + b"".join(listed)
    )


def insert(*values: bytes) -> bytes:
    return b"I" + struct.pack(">I", 7) + b"N" + row(*values)


def update(mark: bytes, old: bytes, new: bytes) -> bytes:
    return b"U" + struct.pack(">I", 7) + mark + old + b"N" + new


SHAPE = relation((b"id", 23), (b"v", 25))
SOURCE = WalSource(
    7, "pgstream_changes", since=50, columns=("id", "v"), types=(23, 25), trouble=None
)


def lines(
    *messages: bytes, source: WalSource = SOURCE, start: int = 0, lsn: int = 60
) -> list[bytes]:
    decoding = Decoding({7: source}, start, 1000, "utf-8")
    for message in messages:
        decoding.feed(lsn, message)
    return decoding.lines.get(7, [])


def test_an_insert() -> None:
    found = lines(begin(100), SHAPE, insert(text(b"1"), NULL), commit(100))
    assert found == [b"5\t0/3C\tI\t1\t1\t\\N\n"]


def test_an_update_finds_in_the_old_row_what_was_not_sent() -> None:
    old, new = row(text(b"1"), text(b"long")), row(text(b"2"), UNCHANGED)
    assert lines(begin(100), SHAPE, update(b"O", old, new)) == [
        b"5\t0/3C\tU\t-1\t1\tlong\n",
        b"5\t0/3C\tU\t1\t2\tlong\n",
    ]


def test_a_truncate_is_a_marker() -> None:
    assert lines(begin(100), b"T" + struct.pack(">ibI", 1, 0, 7)) == [b"5\t0/3C\tT\t0\t\\N\t\\N\n"]


def test_a_transaction_that_is_known_is_left_out() -> None:
    one, two = insert(text(b"1"), NULL), insert(text(b"2"), NULL)
    found = lines(begin(100), SHAPE, one, commit(100), begin(108, 6), two, commit(108), start=108)
    assert found == [b"6\t0/3C\tI\t1\t2\t\\N\n"]


def test_what_triggers_have_told_is_left_out() -> None:
    messages = (begin(100), SHAPE, insert(text(b"1"), NULL))
    assert lines(*messages, lsn=49) == []
    assert len(lines(*messages, lsn=50)) == 1


def test_columns_are_found_by_name() -> None:
    shape = relation((b"more", 23), (b"v", 25), (b"id", 23))
    found = lines(begin(100), shape, insert(text(b"9"), text(b"a"), text(b"1")))
    assert found == [b"5\t0/3C\tI\t1\t1\ta\n"]


@pytest.mark.parametrize(
    "shape", [relation((b"id", 23)), relation((b"id", 20), (b"v", 25))], ids=["gone", "other type"]
)
def test_a_shape_that_does_not_fit_is_lost(shape: bytes) -> None:
    with pytest.raises(Lost, match=r"the columns of public\.t have changed"):
        lines(begin(100), shape, insert(text(b"1"), NULL))


def test_the_shape_of_a_known_transaction_does_no_harm() -> None:
    old = relation((b"id", 23))
    assert lines(begin(100), old, insert(text(b"1")), commit(100), start=108) == []


@pytest.mark.parametrize(
    "change",
    [
        update(b"K", row(text(b"1"), NULL), row(text(b"2"), NULL)),
        b"U" + struct.pack(">I", 7) + b"N" + row(text(b"1"), NULL),
        b"D" + struct.pack(">I", 7) + b"K" + row(text(b"1"), NULL),
    ],
)
def test_an_old_row_that_is_not_whole_is_lost(change: bytes) -> None:
    with pytest.raises(Lost, match="is no longer FULL"):
        lines(begin(100), SHAPE, change)


@pytest.mark.parametrize("value", [UNCHANGED, b"b\0\0\0\1x"])
def test_a_value_that_is_no_text_is_lost(value: bytes) -> None:
    with pytest.raises(Lost, match="not a text"):
        lines(begin(100), SHAPE, insert(text(b"1"), value))


def test_lines_are_escaped() -> None:
    assert escaped(b"a\tb\nc\rd\\e") == rb"a\tb\nc\rd\\e"
    assert escaped(b"plain") == b"plain"
