"""One server and one Spark session per test run; a database per test.

`PGSTREAM_TEST_DSN`, the address of a superuser, runs the tests on another server: an older one.
"""

from __future__ import annotations

import itertools
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from psycopg.conninfo import make_conninfo

from pgstream.client import PgStream
from pgstream.database import migrate
from pgstream.database.connection import Connection
from pgstream.database.connection import connect_as_user as connect
from pgstream.database.embedded import _CONFIGURATION, EmbeddedServer
from pgstream.engine.spark.driver import driver_memory, launch
from pgstream.engine.spark.session import LARGE, Sessions
from pgstream.settings import Settings

TESTS = Path(__file__).parent
sys.path.insert(0, str(TESTS))  # for `helpers` and `ways`
import java_classes  # noqa: E402
from helpers import open_stream  # noqa: E402
from ways import WAYS, send  # noqa: E402

MARKERS = {
    "e2e": ("spark", "postgres"),
    "property": ("spark", "postgres"),
    "spark": ("spark",),
    "postgres": ("postgres",),
    "plans": ("postgres",),
}
TEMPLATE = f"pgstream_template_{os.getpid()}"
# What the executors read in tests is not worth many tasks, nor to be compiled.
FEW_ROWS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
# Nothing here outlives the server. Its own upkeep would visit a thousand databases in turns.
SERVER = {"fsync": "off", "full_page_writes": "off", "autovacuum": "off"}
# A run of all tests plans some thousands of statements: the second compiler takes what is hottest,
# at four times the usual counts, and is worth it after a few hundred.
MANY_PLANS = (
    "-XX:Tier4InvocationThreshold=20000 -XX:Tier4MinInvocationThreshold=2400"
    " -XX:Tier4CompileThreshold=60000 -XX:Tier4BackEdgeThreshold=160000"
    " -XX:ReservedCodeCacheSize=512m"
)
# A run of fewer tests ends before that.
MANY_TESTS = 500
FEW_PLANS = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=512m"
PREPARE = {"max_prepared_transactions": "5"}
TEST_SETTINGS = Settings(differential_max_change_ratio=0.0, min_schedule_seconds=1)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--examples",
        type=int,
        default=0,
        help="how many random stream tables are tried; by default one for each part",
    )
    parser.addoption(
        "--way",
        choices=sorted(WAYS),
        default="turns",
        help="which way rows travel, see tests/ways.py",
    )
    parser.addoption(
        "--bank-seconds", type=float, default=4, help="how long the bank test transfers money"
    )
    parser.addoption("--kills", type=int, default=1, help="how often one of two workers is killed")
    parser.addoption(
        "--rewrite-plans",
        action="store_true",
        help="write the plans in tests/plans/expected anew",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--hypothesis-seed") is None:
        config.option.hypothesis_seed = "1"


def pytest_report_header(config: pytest.Config) -> str:
    return f"random: replay with --hypothesis-seed={config.getoption('--hypothesis-seed')}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        room = item.path.relative_to(TESTS).parts[0]
        for marker in MARKERS.get(room, ()):
            item.add_marker(marker)
    items.sort(key=lambda item: "property" not in item.path.parts)  # the longest first


@dataclass(frozen=True)
class GivenServer:
    dsn: str

    def dsn_for(self, database: str) -> str:
        return make_conninfo(self.dsn, dbname=database)


@pytest.fixture(scope="session")
def server() -> Iterator[EmbeddedServer | GivenServer]:
    """Not below pytest's own folder: each run of pytest closes that to the server's user."""
    if given := os.environ.get("PGSTREAM_TEST_DSN"):
        yield GivenServer(_in_haste(given))
        return
    home = tempfile.mkdtemp(prefix="pgstream_tests_")
    try:
        with patch.dict(_CONFIGURATION, PREPARE), EmbeddedServer.start(home) as server:
            _in_haste(server.dsn)
            yield server
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _in_haste(dsn: str) -> str:
    with connect(dsn) as admin:
        for name, value in SERVER.items():
            admin.execute(f"ALTER SYSTEM SET {name} = {value}")
        admin.execute("SELECT pg_reload_conf()")
    return dsn


@pytest.fixture(scope="session")
def spark(request: pytest.FixtureRequest) -> Iterator[Any]:
    """With the memory that a machine of 4 GB gets."""
    memory = driver_memory("auto", machine=4 * 1024**3)
    compilers = MANY_PLANS if len(request.session.items) > MANY_TESTS else FEW_PLANS
    with patch.dict(os.environ, SPARK_SUBMIT_OPTS=f"{compilers} {java_classes.options()}"):
        session = launch(Settings(spark_master="local[2]", spark_driver_memory=memory))
    session.sparkContext.setLogLevel("OFF")
    with patch.dict(LARGE, FEW_ROWS):
        yield session
    session.stop()


@pytest.fixture(scope="session")
def sessions(spark: Any) -> Sessions:
    """Opened once: each pair of sessions starts Python processes of its own."""
    return Sessions(TEST_SETTINGS, spark)


@pytest.fixture(scope="session")
def _admin(server: EmbeddedServer) -> Iterator[Connection]:
    with connect(server.dsn) as admin:
        admin.execute(f"CREATE DATABASE {TEMPLATE} TEMPLATE template0")
        with connect(server.dsn_for(TEMPLATE)) as template:
            migrate.install(template)
        yield admin
        admin.execute(f"DROP DATABASE {TEMPLATE} WITH (FORCE)")


@pytest.fixture(scope="session")
def make_database(server: EmbeddedServer, _admin: Connection) -> Callable[[], str]:
    """Makes databases in which pgstream is installed; gives the name."""
    numbers = itertools.count(1)

    def make() -> str:
        name = f"test_{os.getpid()}_{next(numbers)}"
        _admin.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
        return name

    return make


@pytest.fixture
def database(
    server: EmbeddedServer, _admin: Connection, make_database: Callable[[], str]
) -> Iterator[str]:
    """The address of a database of the test's own."""
    name = make_database()
    yield server.dsn_for(name)
    _admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def settings() -> Settings:
    """A change is never too large to be differential. Tests may override it."""
    return TEST_SETTINGS


@pytest.fixture
def ps(
    database: str, sessions: Sessions, settings: Settings, request: pytest.FixtureRequest
) -> Iterator[PgStream]:
    with open_stream(database, sessions, settings) as stream:
        if request.node.get_closest_marker("usual_way") is None:
            first = zlib.crc32(request.node.nodeid.encode())
            send(stream, request.config.getoption("--way"), first)
        yield stream
