"""Open connections to PostgreSQL, all with the same session settings.

Values travel as text in places, so their form must not depend on the server's configuration.

Our statement means what it says only if nobody else can give its names another meaning.
Whoever may create in a schema of the search path can: an operator that fits the types exactly is
preferred to PostgreSQL's own, and would run with our rights. So our connections search
PostgreSQL's own schema alone, and the temporary one last. A connection that runs a user's
statements searches what the user's do.
"""

import contextlib
import os
from collections.abc import Iterable
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pgstream.errors import ConnectionFailed, VersionMismatch

OLDEST_SERVER = 150000  # PostgreSQL 15
PREPARE_AFTER = 2
"""How often a statement about the catalog is sent before PostgreSQL keeps its plan."""

SESSION_SETTINGS = {
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "TimeZone": "UTC",
    "extra_float_digits": "1",
    "bytea_output": "hex",
}
OWN_SETTINGS = {
    "search_path": "pg_catalog, pg_temp",
    # A policy that somebody adds later hides rows, and runs with our rights: better to fail.
    "row_security": "off",
    # A table that could not be built tells others that it was not; we build it.
    "pg_stream.reads_unbuilt": "on",
}
_RESTRICT = """
SELECT pg_catalog.set_config(name, %s, %s) FROM pg_catalog.pg_settings
WHERE name OPERATOR(pg_catalog.=) 'restrict_nonsystem_relation_kind'
"""
"""PostgreSQL has the setting since 15.8, 16.4 and 17."""
_NOTICE_DEATH = "SELECT pg_catalog.set_config('client_connection_check_interval', '1s', false)"
"""A statement whose client was killed ends, and with it its locks: others can take over."""


def connect(
    dsn: str, *, autocommit: bool = True, application_name: str = "pgstream"
) -> psycopg.Connection:
    """A connection for our own statements."""
    return _open(dsn, {**SESSION_SETTINGS, **OWN_SETTINGS}, autocommit, application_name)


def connect_to_catalog(dsn: str, application_name: str) -> psycopg.Connection:
    """A connection that asks the catalog, mostly the same: PostgreSQL plans that once. Tables of
    users are not read through it, for they may get other columns."""
    settings = {**SESSION_SETTINGS, **OWN_SETTINGS, "plan_cache_mode": "force_generic_plan"}
    connection = _open(dsn, settings, True, application_name)
    connection.prepare_threshold = PREPARE_AFTER
    return connection


def connect_as_user(
    dsn: str, *, autocommit: bool = True, application_name: str = "pgstream"
) -> psycopg.Connection:
    """A connection for the user's statements: names mean what they mean in psql."""
    return _open(dsn, SESSION_SETTINGS, autocommit, application_name)


def own_address(dsn: str) -> str:
    """The address for drivers that send statements before we can set anything."""
    given = conninfo_to_dict(dsn).get("options") or os.environ.get("PGOPTIONS", "")
    ours = (f"-c {name}={value.replace(' ', '')}" for name, value in OWN_SETTINGS.items())
    return make_conninfo(dsn, options=" ".join((str(given), *ours)).strip())


def own_path(conn: psycopg.Connection) -> None:
    """From here to the end of the transaction, statements are ours."""
    for name, value in OWN_SETTINGS.items():
        conn.execute("SELECT pg_catalog.set_config(%s, %s, true)", (name, value))


def _open(
    dsn: str, settings: dict[str, str], autocommit: bool, application_name: str
) -> psycopg.Connection:
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
        for name, value in settings.items():
            conn.execute("SELECT pg_catalog.set_config(%s, %s, false)", (name, value))
        if "search_path" in settings:
            # Views are inlined; one that took the place of a table would run with our rights.
            conn.execute(_RESTRICT, ("view", False))
            with contextlib.suppress(psycopg.errors.InvalidParameterValue):  # not on every system
                conn.execute(_NOTICE_DEATH)
        conn.prepare_threshold = None  # tables are dropped and made again under a connection
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

Found = psycopg.Cursor[Any]
"""What a statement gives, for rooms that do not import the driver."""

DatabaseError = psycopg.Error
"""The driver's errors, for rooms that do not import the driver."""
