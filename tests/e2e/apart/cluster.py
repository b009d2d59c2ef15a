"""A master and two workers: both paths are exact. The cluster dies and comes back."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from typing import Any
from unittest.mock import patch

from losing import change, outcome, refresh_exact_again, settings, with_graph
from pyspark.sql.classic.dataframe import DataFrame
from servers import Server, free_port, master, started, worker

from helpers import assert_exact
from pgstream.client import PgStream


def both_paths(ps: PgStream, large: PgStream) -> None:
    with_graph(ps)
    for number, stream in enumerate((ps, large)):
        change(ps, number)
        assert stream.refresh_stream_table("top").spark_actions > 0
        assert_exact(ps, "low", "top")
    large.refresh_stream_table("top", full=True)
    assert_exact(ps, "low", "top")
    assert ps.sessions.small.sparkContext.master.startswith("spark://")


def master_is_killed(ps: PgStream, head: Server) -> None:
    """Its executors live: a refresh needs no master."""
    print("the master is killed", flush=True)
    change(ps, 10)
    head.kill()
    assert outcome(lambda: ps.refresh_stream_table("top")) == "OK"
    assert_exact(ps, "low", "top")


def all_are_killed(ps: PgStream, cluster: list[Server]) -> None:
    """In the middle of an action: nobody is left to finish it."""
    print("the workers are killed too", flush=True)
    change(ps, 11)
    original = DataFrame.toArrow

    def die() -> None:
        for server in cluster:
            server.kill()

    def killed_within(frame: DataFrame) -> Any:
        threading.Timer(1.0, die).start()
        asleep = "SELECT java_method('java.lang.Thread', 'sleep', 600000L) FROM range(3)"
        return original(frame.sparkSession.sql(asleep))

    with patch.object(DataFrame, "toArrow", killed_within):
        assert outcome(lambda: ps.refresh_stream_table("top")) == "PGS-0409"
    print("there is no cluster", flush=True)
    assert outcome(lambda: ps.refresh_stream_table("top")) == "PGS-0409"
    assert ps.table("top").status == "ACTIVE"


def main(dsn: str) -> None:
    os.environ["SPARK_EXECUTOR_MEMORY"] = "512m"
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ.pop("PYSPARK_PYTHON", None)  # the setting alone must do
    port = free_port()
    address = f"spark://127.0.0.1:{port}"
    with (
        tempfile.TemporaryDirectory() as folder,
        PgStream(dsn, settings=settings(spark_master=address)) as ps,
        PgStream(dsn, settings=settings(spark_master=address, small_path_rows=1)) as large,
    ):
        cluster = [master(port), worker(port, folder), worker(port, folder)]
        with started(*cluster):
            both_paths(ps, large)
            master_is_killed(ps, cluster[0])
            all_are_killed(ps, cluster)
            for server in cluster:
                server.start()
            print("the cluster is back", flush=True)
            refresh_exact_again(ps)


main(sys.argv[1])
