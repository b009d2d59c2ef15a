"""A Connect server: both paths are exact. It is restarted; sessions expire; a refresh
is cancelled; it is not there."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from losing import change, outcome, refresh_exact_again, settings, with_graph
from pyspark.sql.connect.dataframe import DataFrame
from pyspark.sql.connect.session import SparkSession
from servers import Server, connect_server, free_port, started

from helpers import assert_exact
from pgstream.client import PgStream

ASLEEP = "SELECT java_method('java.lang.Thread', 'sleep', 600000L) FROM range(1)"


def both_paths(ps: PgStream, large: PgStream) -> None:
    with_graph(ps)
    for number, stream in enumerate((ps, large)):
        change(ps, number)
        assert stream.refresh_stream_table("top").spark_actions > 0
        assert_exact(ps, "low", "top")
    large.refresh_stream_table("top", full=True)
    assert_exact(ps, "low", "top")


def a_given_session(ps: PgStream, address: str) -> None:
    print("a session is given", flush=True)
    session = SparkSession.builder.remote(address).create()
    with PgStream(ps.dsn, session, settings=ps.settings) as stream:
        change(ps, 5)
        stream.refresh_stream_table("top")
        assert_exact(ps, "low", "top")
        session.client.release_session()
        expire(stream)
        change(ps, 6)
        assert outcome(lambda: stream.refresh_stream_table("top")) == "PGS-0409"
    session.stop()
    refresh_exact_again(ps)


def expire(ps: PgStream) -> None:
    for session in (ps.sessions.small, ps.sessions.large):
        session.client.release_session()


def during(ps: PgStream, happens: Callable[[], object]) -> str:
    """What a refresh says when this happens in the middle of an action."""
    original = DataFrame.toArrow

    def within(frame: DataFrame) -> Any:
        threading.Timer(1.0, happens).start()
        return original(frame.sparkSession.sql(ASLEEP))

    with patch.object(DataFrame, "toArrow", within):
        return outcome(lambda: ps.refresh_stream_table("top"))


def sessions_expire(ps: PgStream) -> None:
    print("sessions expire between refreshes", flush=True)
    change(ps, 10)
    expire(ps)
    refresh_exact_again(ps)
    print("and within one", flush=True)
    change(ps, 11)
    assert during(ps, lambda: expire(ps)) == "PGS-0409"
    refresh_exact_again(ps)


def a_refresh_is_cancelled(ps: PgStream) -> None:
    print("a refresh is cancelled within an action", flush=True)
    change(ps, 15)
    assert during(ps, ps.refresher.cancel) == "PGS-0410"
    refresh_exact_again(ps)


def the_server_is_restarted(ps: PgStream, server: Server) -> None:
    print("the server is restarted between refreshes", flush=True)
    change(ps, 20)
    server.kill()
    server.start()
    refresh_exact_again(ps)
    print("it is killed within one", flush=True)
    change(ps, 21)
    assert during(ps, server.kill) == "PGS-0409"
    print("it is not there", flush=True)
    assert outcome(lambda: ps.refresh_stream_table("top")) == "PGS-0409"
    server.start()
    print("it is back", flush=True)
    refresh_exact_again(ps)


def main(dsn: str) -> None:
    port = free_port()
    address = f"sc://127.0.0.1:{port}"
    server = connect_server(port)
    with (
        started(server),
        PgStream(dsn, settings=settings(spark_remote=address)) as ps,
        PgStream(dsn, settings=settings(spark_remote=address, small_path_rows=1)) as large,
    ):
        both_paths(ps, large)
        a_given_session(ps, address)
        sessions_expire(ps)
        a_refresh_is_cancelled(ps)
        the_server_is_restarted(ps, server)


main(sys.argv[1])
