"""A subscriber of a stream table sees what happened to its rows."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest

from pgstream.algebra.operators.node import Column
from pgstream.algebra.types import BIGINT, INTEGER
from pgstream.storage.apply_to_users import Triggers, apply_to_users
from pgstream.storage.published import is_published
from pgstream.storage.target import Target
from pgstream.storage.temporary import create_temporary

COLUMNS = (Column("g", INTEGER), Column("n", BIGINT))
CHANGES = {b"I": "INSERT", b"U": "UPDATE", b"D": "DELETE"}


@pytest.fixture
def publish(database):
    """Publishes as `p`; gives a decoder of what happens from then on."""
    admin = database.connect()
    if admin.execute("SHOW wal_level").fetchone() != ("logical",):
        pytest.skip("this server does not decode")
    name = f"slot_{admin.info.dbname}"

    def publish(which: str) -> Callable[[], list[str]]:
        admin.execute(f"CREATE PUBLICATION p FOR {which}".encode())
        admin.execute("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", (name,))
        return lambda: decoded(admin, name)

    yield publish
    admin.execute("SELECT pg_drop_replication_slot(%s)", (name,))


def decoded(admin: psycopg.Connection, name: str) -> list[str]:
    rows = admin.execute(
        "SELECT data FROM pg_logical_slot_get_binary_changes(%s, NULL, NULL,"
        " 'proto_version', '1', 'publication_names', 'p')",
        (name,),
    ).fetchall()
    return [CHANGES[data[:1]] for (data,) in rows if data[:1] in CHANGES]


@pytest.fixture
def st(owner: psycopg.Connection) -> psycopg.Connection:
    owner.execute("CREATE TABLE t (id int PRIMARY KEY, g int)")
    owner.execute(
        "SELECT pgstream.create_stream_table('st',"
        " 'SELECT g, count(*) AS n FROM t GROUP BY g', initialize => false)"
    )
    return owner


def apply(connection: psycopg.Connection, *rows: tuple[int, int, int]) -> None:
    row = connection.execute("SELECT 'st'::regclass::oid::int8").fetchone()
    assert row is not None
    target = Target(1, row[0], "public", "st", COLUMNS, ("g",))
    with connection.transaction():
        delta = create_temporary(connection, "delta", 1, COLUMNS)
        for g, n, weight in rows:
            connection.execute(
                "INSERT INTO pg_temp.__pgs_delta_1 VALUES (%s, %s, %s, %s)", (g, n, g, weight)
            )
        apply_to_users(connection, target, delta, Triggers.AUTO)


@pytest.mark.parametrize("which", ["TABLE st", "TABLES IN SCHEMA public", "ALL TABLES"])
def test_a_publication_gets_updates(st, publish, which):
    apply(st, (1, 1, 1), (2, 5, 1))
    changes = publish(which)
    apply(st, (1, 1, -1), (1, 2, 1), (2, 5, -1), (3, 1, 1))
    assert changes() == ["DELETE", "UPDATE", "INSERT"]


def test_which_tables_are_published(st, database):
    row = st.execute("SELECT 'st'::regclass::oid::int8, 't'::regclass::oid::int8").fetchone()
    assert row is not None
    assert not is_published(st, row[0])
    database.connect().execute("CREATE PUBLICATION p FOR TABLE st")
    assert is_published(st, row[0])
    assert not is_published(st, row[1])
