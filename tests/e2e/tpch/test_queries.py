"""The 22 queries of TPC-H at scale factor 0.01: created, changed in every table, exact."""

from __future__ import annotations

import re
import subprocess
import sysconfig
from pathlib import Path

import psycopg
import pytest

from helpers import assert_exact
from pgstream.catalog.records import Action
from pgstream.client import PgStream

HERE = Path(__file__).parent
TABLES = "region nation supplier part partsupp customer orders lineitem".split()
SCALE = "0.01"


def queries() -> dict[str, str]:
    parts = re.split(r"^-- (q\d+)$", (HERE / "queries.sql").read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tpch")
    command = Path(sysconfig.get_path("scripts"), "tpchgen-cli")
    subprocess.run([command, "csv", "-s", SCALE, "-o", folder], check=True, capture_output=True)
    return folder


@pytest.fixture
def warehouse(ps: PgStream, generated: Path) -> PgStream:
    with psycopg.connect(ps.dsn) as connection:
        connection.execute((HERE / "tables.sql").read_bytes())
        for table in TABLES:
            text = (generated / f"{table}.csv").read_bytes()
            with connection.cursor().copy(f"COPY {table} FROM STDIN (FORMAT csv, HEADER)") as copy:
                copy.write(text)
        connection.execute("ANALYZE")
    return ps


@pytest.mark.usual_way
def test_every_query_is_exact_after_changes_in_every_table(warehouse: PgStream) -> None:
    """What fails is collected, so that the message names every query."""
    failures = []
    made = []

    def attempt(name: str, query: str | None) -> bool:
        try:
            if query is not None:
                warehouse.create_stream_table(name, query)
            else:
                result = warehouse.refresh_stream_table(name)
                assert result.action in (Action.DIFFERENTIAL, Action.NO_DATA), result.reason
            assert_exact(warehouse, name)
        except Exception as error:
            failures.append(f"{name}: {type(error).__name__}: {error}")
            return False
        return True

    made = [name for name, query in queries().items() if attempt(name, query)]
    with psycopg.connect(warehouse.dsn) as connection:
        connection.execute((HERE / "changes.sql").read_bytes())
    for name in made:
        attempt(name, None)
    assert not failures, "\n" + "\n".join(failures)
    assert len(made) == 22
