"""repair: after a restore, an upgrade of the server or lost triggers, the catalog fits again.

The catalog knows tables by number and changes by transaction. After a dump and restore both are
others. Stream tables are then found by name, and what they read by their queries; capture is
installed again, and the next refresh of each starts from scratch. What is whole stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgstream.database.connection import Connection, DatabaseError

_LOCK = """
SELECT pg_advisory_xact_lock(pgstream._refresh_lock(), pgs_id::int)
FROM (SELECT pgs_id FROM pgstream.pgs_stream_tables ORDER BY pgs_id) tables
"""
# Those first that others read: a restored number tells nothing, but creation had this order.
_TABLES = "SELECT pgs_id, pgs_schema || '.' || pgs_name FROM pgstream.pgs_stream_tables ORDER BY 1"
_OTHER_SERVER = "the server is another one"


@dataclass(frozen=True, slots=True)
class Repaired:
    name: str
    fault: str
    error: str | None = None
    """Why it could not be repaired."""


def repair(connection: Connection) -> list[Repaired]:
    """What was not whole, in one transaction."""
    with connection.transaction():
        connection.execute(_LOCK)
        connection.execute("SELECT pgstream._notice_crash()")
        is_same = _value(connection, "SELECT pgstream._is_on_its_server()")
        tables = connection.execute(_TABLES).fetchall()
        faults = {} if is_same else dict.fromkeys((id_ for id_, _ in tables), _OTHER_SERVER)
        if is_same:
            faults = _faults(connection, [id_ for id_, _ in tables])
        connection.execute("SELECT pgstream._relocate()")
        connection.execute("SELECT pgstream._forget_capture(%s)", (not is_same,))
        done = [
            _reconnect(connection, id_, name, faults[id_]) for id_, name in tables if id_ in faults
        ]
        connection.execute("SELECT pgstream._forget_publication()")
        connection.execute(
            "UPDATE pgstream.pgs_server SET system_identifier ="
            " (SELECT system_identifier FROM pg_control_system())"
        )
    return done


def _faults(connection: Connection, ids: list[int]) -> dict[int, str]:
    """By id; a query that no longer parses is a fault, too."""
    found: dict[int, str] = {}
    for id_ in ids:
        try:
            with connection.transaction():
                fault = _value(connection, "SELECT pgstream._fault(%s)", id_)
        except DatabaseError as error:
            fault = error.diag.message_primary or str(error)
        if fault is not None:
            found[id_] = str(fault)
    return found


def _reconnect(connection: Connection, id_: int, name: str, fault: str) -> Repaired:
    try:
        with connection.transaction():
            connection.execute("SELECT pgstream._reconnect(%s)", (id_,))
    except DatabaseError as error:
        said = error.diag.message_primary or str(error)
        message = f"{said}. {error.diag.message_hint}" if error.diag.message_hint else said
        connection.execute(
            "UPDATE pgstream.pgs_stream_tables SET status = 'ERROR', frontier = NULL,"
            " needs_reinit = is_populated, last_error = %s, updated_at = now() WHERE pgs_id = %s",
            (f"repair: {message}", id_),
        )
        return Repaired(name, fault, message)
    return Repaired(name, fault)


def _value(connection: Connection, query: str, *parameters: object) -> object:
    row = connection.execute(query.encode(), parameters).fetchone()
    assert row is not None
    return row[0]
