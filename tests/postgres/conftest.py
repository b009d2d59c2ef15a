"""One server per test run, one database per test, with pgstream installed by an ordinary role.

`PGSTREAM_TEST_DSN`, the address of a superuser, runs the tests on another server: an older one.
"""

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from pgstream.database import migrate
from pgstream.database.connection import connect_as_user as connect
from wal_capture import REPLICATOR

OWNER = "pgs_test_owner"  # installs pgstream; no superuser
ALICE = "pgs_test_alice"  # may create in schema public
BOB = "pgs_test_bob"  # has no rights at all
ROLES = (OWNER, ALICE, BOB)
PREFIX = f"pgs_test_{os.getpid()}"

_numbers = itertools.count(1)


@dataclass
class Database:
    """A database of one test."""

    dsn: str
    """As superuser."""
    connections: ExitStack = field(default_factory=ExitStack)

    def dsn_as(self, role: str) -> str:
        return make_conninfo(self.dsn, user=role)

    def connect(self, role: str | None = None, *, autocommit: bool = True) -> psycopg.Connection:
        dsn = self.dsn if role is None else self.dsn_as(role)
        conn = connect(dsn, autocommit=autocommit)
        self.connections.callback(conn.close)
        return conn


@pytest.fixture(scope="session")
def superuser_dsn(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue("server").dsn)


@pytest.fixture(scope="session")
def create_database(superuser_dsn: str) -> Iterator[Callable[[str], str]]:
    """Create a database from a template; give its address."""
    with connect(superuser_dsn) as admin:
        for role in ROLES:
            _create_role(admin, role)
        created: list[str] = []

        def create(template: str) -> str:
            name = f"{PREFIX}_{next(_numbers)}"
            admin.execute(
                sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(
                    sql.Identifier(name), sql.Identifier(template)
                )
            )
            created.append(name)
            admin.execute(
                sql.SQL("GRANT CREATE ON DATABASE {} TO {}").format(
                    sql.Identifier(name), sql.Identifier(OWNER)
                )
            )
            return make_conninfo(superuser_dsn, dbname=name)

        yield create
        # The embedded server goes as a whole.
        for name in created if os.environ.get("PGSTREAM_TEST_DSN") else ():
            admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(scope="session")
def installed_template(create_database: Callable[[str], str]) -> str:
    database = Database(create_database("template0"))
    with database.connections:
        database.connect().execute(f"GRANT USAGE, CREATE ON SCHEMA public TO {OWNER}, {ALICE}")
        conn = database.connect(OWNER)
        migrate.install(conn)
        return conn.info.dbname


@pytest.fixture
def database(create_database: Callable[[str], str], installed_template: str) -> Iterator[Database]:
    """With pgstream."""
    database = Database(create_database(installed_template))
    with database.connections:
        yield database


@pytest.fixture
def bare_database(create_database: Callable[[str], str]) -> Iterator[Database]:
    """Without pgstream."""
    database = Database(create_database("template0"))
    with database.connections:
        database.connect().execute(f"GRANT USAGE, CREATE ON SCHEMA public TO {OWNER}, {ALICE}")
        yield database


@pytest.fixture
def owner(database: Database) -> psycopg.Connection:
    """The role that installed pgstream."""
    return database.connect(OWNER)


@pytest.fixture
def alice(database: Database) -> psycopg.Connection:
    """A user who may create stream tables in schema public."""
    return database.connect(ALICE)


@pytest.fixture
def bob(database: Database) -> psycopg.Connection:
    """A user without any right."""
    return database.connect(BOB)


@pytest.fixture(scope="session")
def wal_template(create_database: Callable[[str], str], superuser_dsn: str) -> str:
    with connect(superuser_dsn) as admin:
        if admin.execute("SHOW wal_level").fetchone() != ("logical",):
            pytest.skip("the server has no wal_level = logical")
        known = admin.execute("SELECT FROM pg_roles WHERE rolname = %s", (REPLICATOR,)).fetchone()
        if known is None:
            admin.execute(f"CREATE ROLE {REPLICATOR} LOGIN REPLICATION")
    database = Database(create_database("template0"))
    with database.connections:
        admin = database.connect()
        admin.execute(f"GRANT CREATE ON DATABASE {admin.info.dbname} TO {REPLICATOR}")
        admin.execute(f"GRANT USAGE, CREATE ON SCHEMA public TO {REPLICATOR}")
        migrate.install(database.connect(REPLICATOR))
        return admin.info.dbname


@pytest.fixture
def wal_database(create_database: Callable[[str], str], wal_template: str) -> Iterator[Database]:
    """Its slot, of which a server has few, ends with the test."""
    database = Database(create_database(wal_template))
    with database.connections:
        admin = database.connect()
        admin.execute(f"GRANT CREATE ON DATABASE {admin.info.dbname} TO {REPLICATOR}")
        yield database
    with connect(database.dsn) as admin:
        admin.execute(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots"
            " WHERE database = current_database()"
        )


@pytest.fixture
def replicator(wal_database: Database) -> psycopg.Connection:
    return wal_database.connect(REPLICATOR)


def _create_role(admin: psycopg.Connection, role: str) -> None:
    known = admin.execute("SELECT FROM pg_roles WHERE rolname = %s", (role,)).fetchone()
    if known is None:
        admin.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(role)))
