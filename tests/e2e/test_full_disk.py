"""A disk that is full: the table that needs it waits, others go on, and it recovers by itself."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from background import Background, until
from helpers import assert_exact
from pgstream.client import PgStream
from pgstream.settings import Settings

LONG = "(SELECT string_agg(md5(i::text || j::text), '') FROM generate_series(1, 32) j)"


@pytest.fixture
def small_disk(server: Any) -> Iterator[Path]:
    """2 MB that the server may write to."""
    if not hasattr(server, "data_directory") or os.geteuid() != 0:
        pytest.skip("only root may mount a disk, and only for a server of ours")
    with tempfile.TemporaryDirectory(prefix="pgstream_disk_") as folder:
        owner = server.data_directory.stat().st_uid
        options = f"size=2m,uid={owner},mode=0700"
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "pgstream", folder], check=False
        )
        if mounted.returncode:
            pytest.skip("no disk may be mounted here")
        os.chmod(folder, 0o700)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", folder], check=True)


def test_a_full_disk(
    ps: PgStream, database: str, spark: Any, settings: Settings, small_disk: Path
) -> None:
    ps.execute("CREATE TABLE t (id int PRIMARY KEY, k text)")
    ps.create_stream_table("counted", "SELECT k, count(*) AS n FROM t GROUP BY k", "on change")
    ps.create_stream_table("ids", "SELECT id FROM t", "on change")
    state = f"pgstream_state.state_{ps.table('counted').id}"
    ps.execute(f"CREATE TABLESPACE small LOCATION '{small_disk}'")
    try:
        ps.execute(f"ALTER TABLE {state} SET TABLESPACE small")
        with Background(database, spark, replace(settings, max_consecutive_errors=1)) as worker:
            ps.execute(f"INSERT INTO t SELECT i, {LONG} FROM generate_series(1, 4000) i")
            until(lambda: worker.lines("failure"))
            assert "PGS-0411" in worker.lines("failure")[0]
            assert "public.counted" in worker.lines("failure")[0]
            until(lambda: ps.execute("SELECT count(*) FROM ids") == [(4000,)])
            assert ps.table("counted").status == "ACTIVE"
            ps.execute(f"ALTER TABLE {state} SET TABLESPACE pg_default")
            until(lambda: ps.execute("SELECT count(*) FROM counted") == [(4000,)])
    finally:
        ps.execute(f"ALTER TABLE {state} SET TABLESPACE pg_default")
        ps.execute("DROP TABLESPACE small")
    assert_exact(ps, "counted", "ids")
