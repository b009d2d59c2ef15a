"""pgstream watch"""

from __future__ import annotations

import contextlib
import json
from datetime import datetime
from typing import Any

from rich.text import Text

from pgstream.cli.options import AsJson, Dsn, Embedded, database
from pgstream.cli.output import complain, say

_SUBJECTS = ("stream_table", "source_table", "slot_name")
_GOOD = {"refresh_completed", "resumed", "cdc_transition_complete"}
_BAD = {"refresh_failed", "auto_suspended", "cdc_transition_failed"}


def watch(dsn: Dsn = None, embedded: Embedded = None, as_json: AsJson = False) -> None:
    """Print alerts as they come, until Ctrl-C.

    With --json each is one document on a line of its own.

    Example: pgstream watch --json
    """
    with database(dsn, embedded) as stream, contextlib.suppress(KeyboardInterrupt):
        alerts = stream.alerts()
        if not as_json:
            complain("listening on pg_stream_alert; Ctrl-C ends")
        for alert in alerts:
            print(json.dumps(alert), flush=True) if as_json else say(line(alert, datetime.now()))


def line(alert: dict[str, Any], now: datetime) -> Text:
    """When, what, to whom, and the rest as name=value. Control characters are written out."""
    event, rest = alert["event"], dict(alert)
    del rest["event"]
    subject = " ".join(str(rest.pop(name)) for name in _SUBJECTS if name in rest)
    style = "green" if event in _GOOD else "red" if event in _BAD else "yellow"
    details = " ".join(f"{name}={json.dumps(value)}" for name, value in rest.items())
    words = ((f"{now:%H:%M:%S}", "dim"), (_plain(event), style), _plain(subject), (details, "dim"))
    return Text(" ").join(Text.assemble(word) for word in words if word not in ("", ("", "dim")))


def _plain(text: str) -> str:
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)
