"""Alerts are read as they were sent; what is none is told as it is."""

from __future__ import annotations

import pytest

from pgstream.monitor.hear import read


def test_an_alert() -> None:
    assert read('{"event": "resumed", "stream_table": "a.b"}') == {
        "event": "resumed",
        "stream_table": "a.b",
    }


@pytest.mark.parametrize("payload", ["", "hello", "[1]", '"event"', '{"event": 1}', "{"])
def test_no_alert(payload: str) -> None:
    assert read(payload) == {"event": "unknown", "message": payload}
