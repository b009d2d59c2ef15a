"""A line of pgstream watch."""

from __future__ import annotations

from datetime import datetime

from pgstream.cli.watch import line

NOON = datetime(2026, 1, 1, 12)


def test_a_line_tells_when_what_whom_and_the_rest() -> None:
    alert = {"event": "stale_data", "stream_table": "public.st", "schedule": "1m", "n": 2}
    assert line(alert, NOON).plain == '12:00:00 stale_data public.st schedule="1m" n=2'


def test_a_line_without_more() -> None:
    assert line({"event": "resumed", "stream_table": "a.b"}, NOON).plain == "12:00:00 resumed a.b"
    assert line({"event": "unknown"}, NOON).plain == "12:00:00 unknown"


def test_a_terminal_gets_no_orders() -> None:
    alert = {"event": "\x1b[2J", "source_table": "\x9b", "message": "\x1b]0;x\x07\x9b"}
    assert line(alert, NOON).plain.isprintable()
