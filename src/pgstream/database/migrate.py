"""Install pgstream into a database, bring it up to date, and remove it without a trace.

Migrations make schemas and tables. They are `migrations/NNNN_name.sql`, without gaps; those that
ran are in `pgstream.pgs_migrations`. Functions and views have files of their own, and are applied
after the migrations: see `sql_functions.py`. An installation or upgrade is one transaction.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources

import psycopg
from psycopg import sql

from pgstream.database import sql_functions
from pgstream.database.connection import own_path
from pgstream.errors import (
    NotInstalled,
    PgStreamError,
    RepairNeeded,
    SettingError,
    VersionMismatch,
)

_DROP_SLOT = """
SELECT pg_drop_replication_slot(s.slot_name)
  FROM pg_replication_slots s JOIN pg_database d ON d.datname = s.database
 WHERE s.database = current_database() AND s.slot_name = format('pg_stream_slot_%s', d.oid)
"""
_STORAGE = """
SELECT n.nspname, c.relname
FROM pgstream.pgs_stream_tables t
JOIN pg_class c ON c.oid = t.pgs_relid JOIN pg_namespace n ON n.oid = c.relnamespace
ORDER BY t.pgs_id
"""
_INSTALL_LOCK = 1885827077  # the class after those in functions/locks


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    text: str


def migrations() -> tuple[Migration, ...]:
    """All that this version of pgstream has, in order."""
    folder = resources.files("pgstream.database") / "migrations"
    found = [
        Migration(int(match[1]), match[2], file.read_text(encoding="utf-8"))
        for file in folder.iterdir()
        if (match := re.fullmatch(r"(\d{4})_(\w+)\.sql", file.name))
    ]
    return tuple(sorted(found, key=lambda migration: migration.number))


def install(conn: psycopg.Connection, buffer_schema: str = "pgstream_changes") -> list[str]:
    """Run what the database lacks; the names of the migrations, and `functions` if they ran. New
    change buffers go to this schema."""
    with _alone(conn), conn.transaction():
        own_path(conn)
        done = installed_version(conn) or 0
        _refuse_other_versions(conn, done)
        missing = [migration for migration in migrations() if migration.number > done]
        for migration in missing:
            _apply(conn, migration)
        has_new = bool(missing) or _has_other_functions(conn)
        if has_new:
            sql_functions.apply(conn, sql_functions.sql_files())
        _use_buffer_schema(conn, buffer_schema)
        return [*(migration.name for migration in missing), *(["functions"] if has_new else [])]


def installed_version(conn: psycopg.Connection) -> int | None:
    """The number of the last migration in the database, or None if there is no pgstream."""
    if _value(conn, "SELECT to_regclass('pgstream.pgs_migrations') IS NULL"):
        return None
    version = _value(conn, "SELECT max(number) FROM pgstream.pgs_migrations")
    return None if version is None else int(str(version))


def require(conn: psycopg.Connection) -> None:
    """Fail unless the database has the tables and the functions of this version, and what they
    say is of this server."""
    require_version(conn)
    if not _value(conn, "SELECT pgstream._is_on_its_server()"):
        raise RepairNeeded(
            "this database was restored from a dump, or its server was upgraded",
            detail="The catalog of pgstream knows tables by number and changes by transaction.",
            hint="Run: pgstream repair",
        )


def require_version(conn: psycopg.Connection) -> None:
    """Fail unless the database has the tables and the functions of this version."""
    version = installed_version(conn)
    newest = migrations()[-1].number
    if version is None:
        raise NotInstalled("this database has no pgstream", hint="Run: pgstream init")
    _refuse_other_versions(conn, version)
    if version < newest:
        raise NotInstalled(
            f"the pgstream in this database is older (schema {version}, needed {newest})",
            hint="Run: pgstream init",
        )
    if _has_other_functions(conn):
        raise NotInstalled(
            "the SQL functions of pgstream in this database are not those of this version",
            hint="Run: pgstream init",
        )


def uninstall(conn: psycopg.Connection) -> None:
    """Remove the stream tables, the capture of their sources, and the three schemas."""
    with _alone(conn), conn.transaction():
        own_path(conn)
        if installed_version(conn) is None:
            return
        conn.execute("SET LOCAL client_min_messages = warning")  # no notice per dropped object
        for storage in conn.execute(_STORAGE).fetchall():
            conn.execute(sql.SQL("DROP TABLE {} CASCADE").format(sql.Identifier(*storage)))
        conn.execute("DROP PUBLICATION IF EXISTS pg_stream_publication")
        # The capture functions take their triggers with them.
        for schema in (*_buffer_schemas(conn), "pgstream_state", "pgstream"):
            conn.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(schema)))
        conn.execute(_DROP_SLOT)  # last, for it cannot be undone


def _apply(conn: psycopg.Connection, migration: Migration) -> None:
    conn.execute(migration.text.encode())
    conn.execute(
        "INSERT INTO pgstream.pgs_migrations (number, name) VALUES (%s, %s)",
        (migration.number, migration.name),
    )


def _use_buffer_schema(conn: psycopg.Connection, name: str) -> None:
    if not _value(conn, "SELECT pgstream._use_buffer_schema(%s)", name):
        raise SettingError(
            f"the schema {name} is not pgstream's, so change buffers cannot be there",
            detail="Whoever owns a schema may drop what is in it.",
            hint="Set pg_stream.change_buffer_schema to a name that no schema has.",
        )


def _buffer_schemas(conn: psycopg.Connection) -> list[str]:
    """All that hold change buffers, or have."""
    if _value(conn, "SELECT to_regclass('pgstream.pgs_buffer_schemas') IS NULL"):
        return ["pgstream_changes"]
    rows = conn.execute(
        "SELECT schema_name FROM pgstream.pgs_buffer_schemas JOIN pg_namespace"
        " ON nspname = schema_name ORDER BY 1"
    )
    return [str(name) for (name,) in rows.fetchall()]


def _refuse_other_versions(conn: psycopg.Connection, version: int) -> None:
    """Fail if the database cannot be brought to this version."""
    newest = migrations()[-1].number
    if version and _has_other_history(conn):
        raise VersionMismatch(
            "the pgstream in this database is of a version that cannot be upgraded",
            detail="It is from before the first release, when migrations had other names.",
            hint="Install it again: pgstream init --uninstall, then pgstream init. "
            "The stream tables are dropped; create them again.",
        )
    if version > newest:
        raise VersionMismatch(
            f"the pgstream in this database is newer (schema {version}, known {newest})",
            hint="Upgrade the Python package.",
        )


def _has_other_history(conn: psycopg.Connection) -> bool:
    names = {migration.number: migration.name for migration in migrations()}
    ran = conn.execute("SELECT number, name FROM pgstream.pgs_migrations").fetchall()
    return any(name != names.get(number, name) for number, name in ran)


def _has_other_functions(conn: psycopg.Connection) -> bool:
    return sql_functions.stored_hash(conn) != sql_functions.hash_of(sql_functions.sql_files())


@contextmanager
def _alone(conn: psycopg.Connection) -> Iterator[None]:
    """Autocommit, and no other install or uninstall in this database meanwhile."""
    if not conn.closed and conn.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
        raise PgStreamError("cannot install or uninstall inside a transaction")
    autocommit = conn.autocommit
    conn.autocommit = True  # on a closed connection the driver's error
    try:
        conn.execute("SELECT pg_advisory_lock(%s, 0)", (_INSTALL_LOCK,))
        try:
            yield
        finally:
            if not conn.closed:
                conn.execute("SELECT pg_advisory_unlock(%s, 0)", (_INSTALL_LOCK,))
    finally:
        if not conn.closed:
            conn.autocommit = autocommit


def _value(conn: psycopg.Connection, query: str, *parameters: object) -> object:
    row = conn.execute(query.encode(), parameters).fetchone()
    assert row is not None
    return row[0]
