"""Nothing but PgStreamError leaves the Python face: every call, with every layer failing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn
from unittest.mock import patch

import psycopg
import pyarrow as pa
import pytest
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import PySparkRuntimeError, PythonException

import pgstream
from faces import CALLS, QUERY, code, public_calls
from pgstream import errors
from pgstream.client import PgStream
from pgstream.engine.spark import driver
from pgstream.refresh.known import as_known
from pgstream.settings import Settings

REFRESHING = ("refresh_stream_table", "verify")
LAUNCH = "pgstream.engine.spark.session.driver.launch"
# Where a layer begins, and what is called there.
SEAMS = [
    "pgstream.client.migrate.install",
    "pgstream.client.migrate.require",
    "pgstream.client.prepare",
    "pgstream.client.explain",
    "pgstream.client.compare",
    "pgstream.client.store.stream_table",
    "pgstream.catalog.store.stream_tables",
    "pgstream.catalog.store.start_history",
    "pgstream.refresh.connections.connect",
    "pgstream.refresh.settled_snapshot.take_snapshot",
    "pgstream.refresh.refresh_table.find_changes",
    "pgstream.refresh.refresh_table.decide",
    "pgstream.refresh.means.Preparations.of",
    "pgstream.engine.postgres.leaves.Leaves.stored",
    "pgstream.engine.spark.execution.Execution.collect",
    LAUNCH,
    "pgstream.engine.spark.session.Sessions.stop",
    "pgstream.refresh.refresher.Refresher.close",
]
FOREIGN = [
    psycopg.OperationalError("the connection is closed"),
    psycopg.errors.DeadlockDetected("deadlock detected"),
    psycopg.errors.DivisionByZero("division by zero"),
    Py4JError("An error occurred while calling o1.sql"),
    Py4JNetworkError("Answer from Java side is empty"),
    PySparkRuntimeError("[JAVA_GATEWAY_EXITED] Java gateway process exited"),
    PythonException("Traceback (most recent call last):\n  File x\nValueError: odd"),
    pa.ArrowInvalid("Tried reading schema message, was null"),
    ConnectionRefusedError(111, "Connection refused"),
    FileNotFoundError(2, "No such file"),
    EOFError(),
    AssertionError(),
    KeyError("relid"),
    RecursionError("maximum recursion depth exceeded"),
    MemoryError(),
]


NEEDS_NO_CONNECTION = {"alerts", "close"}
"""That is open: alerts come over one of their own."""


@pytest.fixture(autouse=True)
def _no_java_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Java of other tests is not waited for, as one that may be ending would be."""
    monkeypatch.setattr(driver, "END_SECONDS", 0.0)


@pytest.fixture
def open_stream(database: Any) -> Iterator[Callable[[], PgStream]]:
    """Opens PgStreams on a database with two stream tables that are due for their first refresh.
    That of `void` needs no Spark."""
    opened: list[PgStream] = []

    def new() -> PgStream:
        dsn = database.dsn_as("pgs_test_owner")
        opened.append(PgStream(dsn, settings=Settings(spark_master="local[1]")))
        return opened[-1]

    ps = new()
    ps.execute("CREATE TABLE t (g int, x int); INSERT INTO t VALUES (1, 2), (1, 3), (2, 4)")
    ps.execute("CREATE TABLE nothing (id int)")
    ps.create_stream_table("st", QUERY, "1h", initialize=False)
    ps.create_stream_table("void", "SELECT id FROM nothing", "1h", initialize=False)
    yield new
    for each in opened:
        each.close()


class Failing:
    """Stands at a seam and raises."""

    def __init__(self, error: BaseException) -> None:
        self.error, self.calls = error, 0

    def __call__(self, *args: Any, **more: Any) -> NoReturn:
        self.calls += 1
        raise self.error


def drive(ps: PgStream, failing: Failing, seam: str, *names: str) -> None:
    """These calls, or all but closing, with this failure. Java is never started."""
    with patch(LAUNCH, Failing(ConnectionError("no Spark"))), patch(seam, failing):
        for name in names or set(CALLS) - {"close"}:
            for table in ("st", "void") if name in REFRESHING else ("st",):
                code(lambda name=name, table=table: CALLS[name](ps, table))


def test_every_public_call_is_driven() -> None:
    assert set(CALLS) == public_calls()
    assert set(pgstream.__all__) == {
        "PgStream", "PgStreamError", "PgStreamWarning", "connect", "embedded"
    }  # fmt: skip


def test_every_layer_fails(open_stream: Callable[[], PgStream]) -> None:
    ps = open_stream()
    for number, seam in enumerate(SEAMS):
        failing = Failing(FOREIGN[number % len(FOREIGN)])
        ps.refresher.close()  # so that it opens its connections again
        drive(ps, failing, seam)
        drive(open_stream(), failing, seam, "close")
        assert failing.calls, f"nobody calls {seam}"


def test_with_every_error(open_stream: Callable[[], PgStream]) -> None:
    ps = open_stream()
    for error in FOREIGN:
        for seam, *names in (
            (LAUNCH, "refresh_stream_table"),
            ("pgstream.refresh.refresh_table.find_changes", "verify"),
            ("pgstream.client.store.stream_table", "table", "create_stream_table"),
        ):
            failing = Failing(error)
            drive(ps, failing, seam, *names)
            assert failing.calls


def test_an_interrupt_passes(open_stream: Callable[[], PgStream]) -> None:
    ps = open_stream()
    with (
        patch("pgstream.refresh.settled_snapshot.take_snapshot", Failing(KeyboardInterrupt())),
        pytest.raises(KeyboardInterrupt),
    ):
        ps.refresh_stream_table("st")
    assert ps.table("st").status != "ERROR"
    assert ps.history("st", 1)[0]["status"] == "FAILED"


def test_a_lost_spark_moves_no_table_to_error(open_stream: Callable[[], PgStream]) -> None:
    ps = open_stream()
    with patch(LAUNCH, Failing(ConnectionRefusedError(111, "Connection refused"))):
        for _ in range(ps.settings.max_consecutive_errors + 2):
            assert code(lambda: ps.refresh_stream_table("st")) == "PGS-0409"
    table = ps.table("st")
    assert (table.status, table.consecutive_errors) == ("ACTIVE", 5)
    with patch("pgstream.refresh.refresh_table.find_changes", Failing(AssertionError())):
        assert code(lambda: ps.refresh_stream_table("st")) == "PGS-0106"
    assert ps.table("st").status == "ERROR"


def test_the_connection_is_closed(open_stream: Callable[[], PgStream]) -> None:
    ps = open_stream()
    ps.connection.close()
    ps.own.close()
    for name, call in CALLS.items():
        said = code(lambda call=call: call(ps, "st"))
        assert said == ("OK" if name in NEEDS_NO_CONNECTION else "PGS-0102"), name


def test_the_server_ends_all_connections(open_stream: Callable[[], PgStream]) -> None:
    admin = open_stream()
    for name, call in CALLS.items():
        ps = open_stream()
        ps.refresher.connections()
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        said = code(lambda call=call, ps=ps: call(ps, "st"))
        assert said == ("OK" if name in NEEDS_NO_CONNECTION else "PGS-0102"), name


def test_the_catalog_is_dropped(open_stream: Callable[[], PgStream]) -> None:
    ps = open_stream()
    ps.execute("DROP SCHEMA pgstream CASCADE")
    free = {"install", "execute", "show_settings", *NEEDS_NO_CONNECTION}
    for name, call in sorted(CALLS.items(), key=lambda each: each[0] in free):
        said = code(lambda call=call: call(ps, "st"))
        assert name in free or said in ("PGS-0103", "PGS-0205"), (name, said)


def test_opening_fails(open_stream: Callable[[], PgStream], tmp_path: Path) -> None:
    dsn = open_stream().dsn
    (tmp_path / "a file").write_text("x")
    assert code(lambda: pgstream.connect("host=/nowhere")) == "PGS-0102"
    assert code(lambda: pgstream.connect("this is no address")) == "PGS-0102"
    assert code(lambda: pgstream.embedded(tmp_path / "a file")) != "OK"
    for error in FOREIGN:
        for seam in ("migrate.require", "server_settings", "Sessions", "EmbeddedServer.start"):
            with patch(f"pgstream.client.{seam}", Failing(error)):
                code(lambda: pgstream.connect(dsn).close())
                if seam == "EmbeddedServer.start":
                    assert code(lambda: pgstream.embedded(tmp_path)) != "OK"


def test_what_is_ours_stays_and_what_is_unknown_asks_for_a_report() -> None:
    known = errors.BadName("no name")
    assert as_known(known) is known
    unknown = as_known(AssertionError())
    assert isinstance(unknown, errors.InternalError)
    assert unknown.hint is not None
    assert "report" in unknown.hint
    cause = as_known(
        PythonException("Traceback (most recent call last):\n  File x\nValueError: odd")
    )
    assert "ValueError: odd" in str(cause)
