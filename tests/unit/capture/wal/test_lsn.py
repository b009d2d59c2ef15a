from __future__ import annotations

import pytest

from pgstream.capture.wal.lsn import full_xid, lsn_text


@pytest.mark.parametrize(
    ("lsn", "text"),
    [
        (0, "0/0"),
        (0x17DE820, "0/17DE820"),
        (0x1_0000_00AB, "1/AB"),
        (2**64 - 1, "FFFFFFFF/FFFFFFFF"),
    ],
)
def test_positions_are_written_as_postgresql_writes_them(lsn: int, text: str) -> None:
    assert lsn_text(lsn) == text


@pytest.mark.parametrize(
    ("xid", "near", "full"),
    [
        (700, 750, 700),
        (760, 750, 760),
        (7, 2**32 + 9, 2**32 + 7),
        (2**32 - 1, 2**32 + 9, 2**32 - 1),
        (3, 2**32 - 2, 2**32 + 3),
        (3, 5 * 2**32 - 2, 5 * 2**32 + 3),
        (2**32 - 3, 5 * 2**32 + 100, 5 * 2**32 - 3),
    ],
)
def test_an_xid_is_completed_with_its_epoch(xid: int, near: int, full: int) -> None:
    assert full_xid(xid, near) == full
