"""Takes a message of pgoutput apart, field by field. What ends too early is an error."""

from __future__ import annotations

import struct

from pgstream.capture.wal.messages import UNCHANGED, Binary, Row, Value
from pgstream.errors import DecodingError

_INT16 = struct.Struct(">h")
_INT32 = struct.Struct(">i")
_UINT32 = struct.Struct(">I")
_UINT64 = struct.Struct(">Q")
_INT64 = struct.Struct(">q")
_TEXT = ord("t")


class Fields:
    """The bytes of one message, read from front to back."""

    __slots__ = ("at", "data", "encoding")

    def __init__(self, data: bytes, encoding: str) -> None:
        self.data, self.encoding, self.at = data, encoding, 0

    def byte(self) -> str:
        return chr(self.take(1)[0])

    def int8(self) -> int:
        return self.take(1)[0]

    def int16(self) -> int:
        return self._number(_INT16)

    def int32(self) -> int:
        return self._number(_INT32)

    def oid(self) -> int:
        return self._number(_UINT32)

    def lsn(self) -> int:
        return self._number(_UINT64)

    def timestamp(self) -> int:
        return self._number(_INT64)

    def text(self) -> str:
        end = self.data.find(b"\0", self.at)
        if end < 0:
            raise malformed(self.data, "a text has no end")
        raw = self.take(end - self.at)
        self.at += 1
        return raw.decode(self.encoding)

    def counted(self) -> bytes:
        size = self.int32()
        if size < 0:
            raise malformed(self.data, f"a length is {size}")
        return self.take(size)

    def row(self) -> Row:
        """Most of the time is spent here, and most values are texts: they are read in place."""
        data, size = self.data, len(self.data)
        values: list[Value] = []
        for _ in range(self.int16()):
            start = self.at + 5
            if start <= size and data[self.at] == _TEXT:
                end = start + _INT32.unpack_from(data, start - 4)[0]
                if start <= end <= size:
                    values.append(data[start:end])
                    self.at = end
                    continue
            values.append(self._value())
        return tuple(values)

    def end(self) -> None:
        """Nothing may be left: what we do not understand may change what we do."""
        if self.at != len(self.data):
            raise malformed(self.data, f"{len(self.data) - self.at} bytes are left over")

    def take(self, size: int) -> bytes:
        start, self.at = self.at, self.at + size
        if self.at > len(self.data):
            raise malformed(self.data, "it ends too early")
        return self.data[start : self.at]

    def _number(self, form: struct.Struct) -> int:
        value: int = form.unpack(self.take(form.size))[0]
        return value

    def _value(self) -> Value:
        kind = self.byte()
        if kind == "t":
            return self.counted()
        if kind == "n":
            return None
        if kind == "u":
            return UNCHANGED
        if kind == "b":
            return Binary(self.counted())
        raise malformed(self.data, f"a value is of the unknown kind {kind!r}")


def malformed(data: bytes, what: str) -> DecodingError:
    kind = repr(chr(data[0])) if data else "nothing"
    return DecodingError(
        f"A message of the replication slot cannot be decoded: {what}.",
        detail=f"Its kind is {kind}, its length {len(data)} bytes, its start {data[:32].hex()}.",
        hint="Set pg_stream.cdc_mode to trigger, and report this.",
    )
