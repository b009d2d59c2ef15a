"""Spark Connect: sessions on a server that somebody else runs.

The packages of Connect are an extra, so nothing here is imported before it is needed.
"""

from __future__ import annotations

import os
from typing import Any

from pyspark.sql import SparkSession

from pgstream.errors import SettingError

# PySpark waits ten minutes for a server that does not answer. These are some ten seconds.
RETRIES, LONGEST_WAIT_MS = 6, 2_000
# A server that vanished without a word: asked when nothing has come for so long. Servers take
# it amiss to be asked more often.
KEEP_ALIVE = [("grpc.keepalive_time_ms", 330_000), ("grpc.keepalive_timeout_ms", 20_000)]
# One that was not there is tried again soon. Channels to one address share how long they wait, by
# default up to two minutes: then it would be missed though it is back.
RECONNECT = [("grpc.initial_reconnect_backoff_ms", 200), ("grpc.max_reconnect_backoff_ms", 1_000)]


def is_remote(session: Any) -> bool:
    return not isinstance(session, SparkSession)


def open_session(address: str) -> Any:
    """A session of its own on the server."""
    try:
        from pyspark.sql.connect.client import DefaultChannelBuilder
        from pyspark.sql.connect.session import SparkSession as RemoteSession
    except ImportError as error:  # PySpark's own says which package
        raise SettingError(
            "spark_remote needs the packages of Spark Connect.",
            detail=str(error).strip().splitlines()[0],
            hint="Install them: pip install 'pgstream[connect]'",
        ) from error
    os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"  # as PySpark's own builder does
    channel = DefaultChannelBuilder(address, [*KEEP_ALIVE, *RECONNECT])
    return bounded(RemoteSession.builder.channelBuilder(channel).create())


def clone(session: Any) -> Any:
    """Another session beside one that was given: views and settings are apart."""
    return bounded(session.cloneSession())


def bounded(session: Any) -> Any:
    from pyspark.sql.connect.client.retries import DefaultPolicy

    policy = DefaultPolicy(
        RETRIES, max_backoff=LONGEST_WAIT_MS, max_server_retry_delay=LONGEST_WAIT_MS
    )
    session.client.set_retry_policies([policy])
    return session


def is_gone(session: Any) -> bool:
    """Whether the server has ended, or knows the session no longer."""
    if session.is_stopped:
        return True
    try:
        session.conf.get("spark.sql.session.timeZone")
    except Exception:
        return True
    return False


def discard(session: Any) -> None:
    """No goodbye to a server that is gone: when the process ends, PySpark would try for long."""
    session.client._closed = True
