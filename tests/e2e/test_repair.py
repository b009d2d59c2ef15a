"""After pg_dump and pg_restore, stream tables go on: by a full refresh, then by changes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from psycopg.conninfo import make_conninfo

from helpers import assert_exact, create_exact, open_stream, refresh_exact, script
from pgstream.catalog.records import Action
from pgstream.client import PgStream
from pgstream.database.server_programs import environment, programs
from pgstream.engine.spark.session import Sessions
from pgstream.errors import SourceChanged
from pgstream.settings import Settings


def restored(ps: PgStream, folder: Path) -> str:
    """A copy of the database, made by PostgreSQL's own programs; its address."""
    name, dump = f"{ps.connection.info.dbname}_restored", folder / "dump"
    address = make_conninfo(ps.dsn, dbname=name)
    ps.execute(f"CREATE DATABASE {name} TEMPLATE template0")
    for command in (
        ["pg_dump", "--format=custom", f"--file={dump}", ps.dsn],
        ["pg_restore", f"--dbname={address}", str(dump)],
    ):
        subprocess.run([programs() / command[0], *command[1:]], check=True, env=environment())
    return address


def test_a_dump_goes_on_where_it_ended(
    ps: PgStream, sessions: Sessions, settings: Settings, tmp_path: Path
) -> None:
    script(
        ps,
        "CREATE TABLE t (id int PRIMARY KEY, g int, x numeric(10, 2))",
        "INSERT INTO t SELECT i, i % 4, i FROM generate_series(1, 40) i",
        "CREATE VIEW v AS SELECT g, x FROM t WHERE x > 2",
    )
    create_exact(ps, "low", "SELECT g, x FROM v")
    create_exact(ps, "high", "SELECT g, sum(x) AS total, count(*) AS n FROM low GROUP BY g")
    create_exact(
        ps, "nested", "SELECT max(n) AS most FROM (SELECT count(*) AS n FROM t GROUP BY g)"
    )
    script(ps, "INSERT INTO t VALUES (100, 1, 100)", "DELETE FROM t WHERE id = 7")  # not seen yet
    with open_stream(restored(ps, tmp_path), sessions, settings) as other:
        with pytest.raises(SourceChanged, match="pgstream repair"):
            other.refresh_stream_table("high")
        assert [(each.name, each.error) for each in other.repair()] == [
            ("public.low", None),
            ("public.high", None),
            ("public.nested", None),
        ]
        other.execute("UPDATE t SET x = x + 1 WHERE id = 9")
        for name in ("high", "nested"):
            done = refresh_exact(other, name)
            assert (done.action, done.reason) == (Action.REINITIALIZE, "it was repaired")
        assert_exact(other, "low")
        other.execute("UPDATE t SET g = 1 WHERE id IN (2, 6)")
        for name in ("high", "nested"):
            assert refresh_exact(other, name).action is Action.DIFFERENTIAL
        assert other.repair() == []
    refresh_exact(ps, "high")
