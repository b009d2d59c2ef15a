"""Ordinary roles: no superuser, no extension; rights are checked as the caller."""

from __future__ import annotations

import pytest
from psycopg.conninfo import make_conninfo

from helpers import assert_exact
from pgstream import errors
from pgstream.client import PgStream
from pgstream.database import migrate
from pgstream.database.connection import connect_as_user as connect

ROLES = ("rights_owner", "rights_reader", "rights_stranger")


@pytest.fixture
def dsns(server):
    """A database of an ordinary role's own, with pgstream installed by that role."""
    with connect(server.dsn) as admin:
        for role in ROLES:
            admin.execute(f"CREATE ROLE {role} LOGIN")
        admin.execute("CREATE DATABASE rights OWNER rights_owner TEMPLATE template0")
        dsn = server.dsn_for("rights")
        found = {role: make_conninfo(dsn, user=role) for role in ROLES}
        with connect(found["rights_owner"]) as owner:
            migrate.install(owner)
            owner.execute(
                "CREATE TABLE open (g text, x int); CREATE TABLE closed (g text, x int);"
                "INSERT INTO open VALUES ('a', 1), ('b', 2), (NULL, 3);"
                "INSERT INTO closed VALUES ('a', 1);"
                "GRANT SELECT ON open TO rights_reader;"
                "GRANT CREATE ON SCHEMA public TO rights_reader, rights_stranger"
            )
        yield found
        admin.execute("DROP DATABASE rights WITH (FORCE)")
        for role in ROLES:
            admin.execute(f"DROP ROLE {role}")


def stream(dsn, spark, settings):
    return PgStream(dsn, spark=spark, settings=settings)


def test_the_owner_of_the_tables_needs_no_superuser(dsns, spark, settings):
    with stream(dsns["rights_owner"], spark, settings) as ps:
        assert ps.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user") == [
            (False,)
        ]
        ps.create_stream_table("totals", "SELECT g, sum(x) AS s, max(x) AS m FROM open GROUP BY g")
        assert_exact(ps, "totals")
        ps.execute("UPDATE open SET x = x + 1; DELETE FROM open WHERE g = 'a'")
        assert ps.refresh_stream_table("totals").action == "DIFFERENTIAL"
        assert_exact(ps, "totals")


def test_a_caller_without_select_creates_nothing(dsns, spark, settings):
    for role, table in (("rights_reader", "closed"), ("rights_stranger", "open")):
        with stream(dsns[role], spark, settings) as ps:
            with pytest.raises(errors.PermissionDenied, match=table):
                ps.create_stream_table("s", f"SELECT g, x FROM {table}")
            assert ps.execute("SELECT to_regclass('public.s')") == [(None,)]
            assert ps.execute("SELECT count(*) FROM pgstream.pgs_stream_tables") == [(0,)]


def test_a_writer_needs_no_right_on_the_buffers(dsns, spark, settings):
    with stream(dsns["rights_owner"], spark, settings) as ps:
        ps.execute("GRANT INSERT ON open TO rights_stranger")
        ps.create_stream_table("copy", "SELECT g, x FROM open")
        with connect(dsns["rights_stranger"]) as writer:
            writer.execute("INSERT INTO open VALUES ('new', 9)")
        ps.refresh_stream_table("copy")
        assert_exact(ps, "copy")
        assert ps.execute("SELECT x FROM copy WHERE g = 'new'") == [(9,)]
