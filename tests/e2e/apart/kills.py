"""Kills Java in each step of a refresh, in the middle of actions, and under a worker."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from losing import change, outcome, refresh_exact_again, settings, with_graph
from pyspark.sql import SparkSession
from pyspark.sql.classic.dataframe import DataFrame
from typer.testing import CliRunner

from faces import CALLS, code
from helpers import assert_exact
from pgstream.catalog.records import Action
from pgstream.cli.app import app
from pgstream.client import PgStream
from pgstream.engine.spark import driver
from pgstream.engine.spark.session import Sessions
from pgstream.refresh import cycle, refresh_table
from pgstream.refresh.crash import STEPS
from pgstream.schedule.events import Event
from pgstream.schedule.worker import Worker
from ways import send

ASLEEP = "SELECT java_method('java.lang.Thread', 'sleep', CAST(600000 AS BIGINT))"
TOO_MUCH = "SELECT length(repeat(CAST(rand() AS STRING), 100000000))"


def kill() -> None:
    java = driver.process()
    assert java is not None
    java.kill()
    java.wait()


def kill_soon(frame: DataFrame) -> DataFrame:
    """Something that takes long, and Java dies meanwhile."""
    threading.Timer(1.0, kill).start()
    return frame.sparkSession.sql(ASLEEP)


@contextmanager
def at(step: str) -> Iterator[None]:
    left = [step]

    def hook(reached: str) -> None:
        if reached in left:
            left.remove(reached)
            kill()

    with patch.object(cycle, "crash_point", hook), patch.object(refresh_table, "crash_point", hook):
        yield
    assert not left, f"{step} was not reached"


@contextmanager
def first_call(owner: type, name: str, instead: Callable[..., Any]) -> Iterator[None]:
    """`instead` is called with the original and its arguments, once."""
    original = getattr(owner, name)
    calls = []

    def called(*args: Any, **more: Any) -> Any:
        calls.append(name)
        return instead(original, *args, **more) if len(calls) == 1 else original(*args, **more)

    with patch.object(owner, name, called):
        yield
    assert calls, f"{name} was not called"


def killed_before(original: Callable[..., Any], *args: Any, **more: Any) -> Any:
    kill()
    return original(*args, **more)


def killed_within(original: Callable[..., Any], frame: DataFrame) -> Any:
    return original(kill_soon(frame))


def out_of_memory(original: Callable[..., Any], frame: DataFrame) -> Any:
    return original(frame.sparkSession.sql(TOO_MUCH))


# --- the scenes ---------------------------------------------------------------------------------


def each_step(ps: PgStream) -> None:
    """Spark is not needed between its actions: a new one is started in the same refresh."""
    ps.execute("CREATE TABLE few (id int)")
    ps.create_stream_table("tiny", "SELECT id % 2 AS odd, sum(id) AS total FROM few GROUP BY 1")
    for number, step in enumerate(STEPS):
        print(f"killed at {step}", flush=True)
        ps.execute("INSERT INTO few VALUES (%s), (1)", (number,))
        ps.sessions.revive()
        _ = ps.sessions.small
        with at(step):
            assert outcome(lambda: ps.refresh_stream_table("tiny")) == "OK"
        assert_exact(ps, "tiny")
    assert driver.has_ended()
    assert ps.refresh_stream_table("tiny").action is Action.NO_DATA
    assert driver.has_ended(), "a refresh with nothing to do started Java"


def within_actions(ps: PgStream) -> None:
    with_graph(ps)
    send(ps, "arrow")  # few rows would be written into the statement
    large = PgStream(ps.dsn, settings=replace(ps.settings, small_path_rows=1))
    for number, (stream, owner, name, instead, wanted) in enumerate(
        [
            (ps, SparkSession, "createDataFrame", killed_before, "PGS-0409"),
            (ps, DataFrame, "toArrow", killed_within, "PGS-0409"),
            (ps, DataFrame, "toArrow", out_of_memory, "PGS-0402"),
            (large, DataFrame, "toArrow", killed_within, "PGS-0409"),
        ]
    ):
        print(f"{instead.__name__} {name}", flush=True)
        change(ps, 20 + number)
        stream.sessions.revive()
        _ = stream.sessions.large  # open before it is killed
        before = ps.table("top").frontier
        with first_call(owner, name, instead):
            assert outcome(lambda stream=stream: stream.refresh_stream_table("top")) == wanted
        assert ps.table("top").frontier == before
        newest = ps.history("low", 1)[0]
        assert newest["status"] == "FAILED", newest
        refresh_exact_again(ps)
    large.close()


def on_the_command_line(ps: PgStream) -> None:
    change(ps, 30)
    arguments = ["refresh", "top", "--dsn", ps.dsn]
    with first_call(DataFrame, "toArrow", killed_within):
        result = CliRunner().invoke(app, arguments)
    print(f"command line\n    {result.stderr}", flush=True)
    assert (result.exit_code, "PGS-0409" in result.stderr) == (1, True)
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert_exact(ps, "low", "top")


def under_a_worker(ps: PgStream) -> None:
    """Nobody calls anybody: the worker goes on by itself."""
    events: list[Event] = []
    worker = Worker(ps.dsn, Sessions(ps.settings), events.append, ps.settings)
    for name in ("low", "top"):
        ps.alter_stream_table(name, schedule="1s")
    change(ps, 40)
    changed = ps.execute("SELECT clock_timestamp()")[0][0]
    thread = threading.Thread(target=worker.run)
    with first_call(DataFrame, "toArrow", killed_within):
        thread.start()
        try:
            until(lambda: any(event.kind == "failure" for event in events))
            until(lambda: newer(ps, changed))
        finally:
            worker.stop()
            thread.join()
            worker.sessions.stop()
    print(*(event.line for event in events), sep="\n", flush=True)
    assert {e.fields["code"] for e in events if e.kind == "failure"} == {"PGS-0409"}
    assert_exact(ps, "low", "top")


def newer(ps: PgStream, moment: Any) -> bool:
    return all(ps.table(name).data_timestamp > moment for name in ("low", "top"))


def until(true: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"not after {seconds} s"
        time.sleep(0.1)


def given(ps: PgStream) -> None:
    """A session of the caller's cannot be opened by us. What needs no Spark goes on."""
    with_graph(ps)
    session = driver.launch(ps.settings)
    stream = PgStream(ps.dsn, session, settings=ps.settings)
    change(ps, 50)
    with first_call(DataFrame, "toArrow", killed_within):
        assert outcome(lambda: stream.refresh_stream_table("top")) == "PGS-0409"
    said = {name: code(lambda call=call: call(stream, "top")) for name, call in CALLS.items()}
    print(f"every call without Java: {said}", flush=True)
    lost = {name for name, each in said.items() if each == "PGS-0409"}
    assert lost == {"create_stream_table", "refresh_stream_table", "verify"}
    assert set(said.values()) == {"OK", "PGS-0409", "PGS-0303"}
    refresh_exact_again(ps)


def main(dsn: str, *scenes: str) -> None:
    with PgStream(dsn, settings=settings(spark_master="local[2]")) as ps:
        for scene in scenes:
            print(f"=== {scene}", flush=True)
            globals()[scene](ps)


main(*sys.argv[1:])
