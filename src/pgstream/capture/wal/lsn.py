"""Positions in the WAL and numbers of transactions, as PostgreSQL writes them."""

from __future__ import annotations

_HALF = 2**31
_EPOCH = 2**32


def lsn_text(lsn: int) -> str:
    """
    >>> lsn_text(0x1_0000_00AB)
    '1/AB'
    """
    return f"{lsn >> 32:X}/{lsn & 0xFFFFFFFF:X}"


def full_xid(xid: int, near: int) -> int:
    """The transaction of these lower 32 bits that is next to `near`, which has 64.

    A slot keeps PostgreSQL from reusing a number, so no decoded transaction is further away than
    half of them.

    >>> full_xid(7, near=2**32 + 9) == 2**32 + 7
    True
    >>> full_xid(2**32 - 1, near=2**32 + 9) == 2**32 - 1
    True
    >>> full_xid(3, near=2**32 - 2) == 2**32 + 3
    True
    """
    found = near - near % _EPOCH + xid
    if found > near + _HALF:
        return found - _EPOCH
    return found + _EPOCH if found < near - _HALF else found
