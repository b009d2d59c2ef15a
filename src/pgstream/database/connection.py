"""Open connections to PostgreSQL, all with the same session settings.

Values travel as text in places, so their form must not depend on the server's configuration.
"""

from collections.abc import Iterable

import psycopg

from pgstream.errors import ConnectionFailed, VersionMismatch

OLDEST_SERVER = 150000  # PostgreSQL 15

SESSION_SETTINGS = {
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "TimeZone": "UTC",
    "extra_float_digits": "1",
    "bytea_output": "hex",
}


def connect(
    dsn: str, *, autocommit: bool = True, application_name: str = "pgstream"
) -> psycopg.Connection:
    """A connection with the session settings of pgstream."""
    try:
        conn = psycopg.connect(dsn, autocommit=True, application_name=application_name)
    except psycopg.Error as error:
        raise ConnectionFailed(
            "cannot connect to PostgreSQL",
            detail=str(error).strip(),
            hint="Check the address, and that the server accepts connections.",
        ) from error
    try:
        _check_version(conn)
        for name, value in SESSION_SETTINGS.items():
            conn.execute("SELECT set_config(%s, %s, false)", (name, value))
        conn.prepare_threshold = None  # tables are dropped and made anew under a connection
        conn.autocommit = autocommit
    except BaseException:
        conn.close()
        raise
    return conn


def server_settings(conn: psycopg.Connection, names: Iterable[str]) -> dict[str, str]:
    """Those of the settings `pg_stream.<name>` that the database, the role or the session sets."""
    wanted = list(names)
    rows = conn.execute(
        "SELECT name, nullif(current_setting('pg_stream.' || name, true), '')"
        " FROM unnest(%s::text[]) AS name",
        (wanted,),
    ).fetchall()
    return {name: value for name, value in rows if value is not None}


def _check_version(conn: psycopg.Connection) -> None:
    version = conn.info.server_version
    if version < OLDEST_SERVER:
        raise VersionMismatch(
            f"PostgreSQL {version // 10000} is too old",
            hint=f"pgstream needs PostgreSQL {OLDEST_SERVER // 10000} or later.",
        )


Connection = psycopg.Connection
"""The type of a connection, for rooms that do not import the driver."""

DatabaseError = psycopg.Error
"""The driver's errors, for rooms that do not import the driver."""
