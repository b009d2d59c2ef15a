"""health: what is wrong in a database, by the checks that `pgstream.health_check()` lists."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pgstream.database.connection import Connection
from pgstream.settings import SERVER_PREFIX, Settings

LIMITS = ("buffer_warning_rows", "slot_lag_warning_mb", "user_triggers", "cdc_mode")
"""The settings that checks ask for; ours count, not those of the session."""


class Severity(StrEnum):
    NOTICE = "notice"
    """Worth to know, and nothing wrong."""
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    check: str
    severity: Severity
    subject: str
    """A stream table, a source or a replication slot."""
    message: str
    hint: str | None


def find_faults(connection: Connection, settings: Settings) -> list[Finding]:
    """The worst first; none if all is well. Inside a transaction."""
    _set_limits(connection, settings)
    rows = connection.execute(
        "SELECT check_name, severity, subject, message, hint FROM pgstream.health_check()"
    ).fetchall()
    return [Finding(check, Severity(how), *rest) for check, how, *rest in rows]


def lagging_slots(connection: Connection, settings: Settings) -> list[tuple[str, str]]:
    """The names of replication slots that lag or are lost, and what is wrong."""
    with connection.transaction():
        _set_limits(connection, settings)
        query = "SELECT subject, message FROM pgstream._check_slots()"
        return [(slot, message) for slot, message in connection.execute(query).fetchall()]


def _set_limits(connection: Connection, settings: Settings) -> None:
    """Until the transaction ends."""
    for name in LIMITS:
        connection.execute(
            "SELECT set_config(%s, %s, true)", (SERVER_PREFIX + name, str(getattr(settings, name)))
        )
