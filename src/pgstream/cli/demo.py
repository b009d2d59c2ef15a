"""pgstream demo"""

from __future__ import annotations

import shlex
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgstream.cli.demo_play import Player
from pgstream.cli.demo_steps import SOURCES, STEPS, STREAM_TABLES
from pgstream.cli.options import AsJson
from pgstream.cli.output import emit

if TYPE_CHECKING:
    from pgstream.client import PgStream


def demo(
    path: Annotated[
        Path, typer.Option(metavar="DIR", help="Where the demo keeps its PostgreSQL.")
    ] = Path("pgstream-demo"),
    as_json: AsJson = False,
) -> None:
    """Play the tutorial on a PostgreSQL and a Spark of its own.

    It needs no server. It takes less than a minute and may be run again.

    Example: pgstream demo --path ./pgstream-demo
    """
    from pgstream import client
    from pgstream.schedule.background import in_background
    from pgstream.schedule.worker import Worker

    started = time.perf_counter()
    player = Player(as_json)
    player.say(f"Starting PostgreSQL 18 in {path} …")
    with client.embedded(path) as stream:
        _clean(stream)
        _settle(stream, player)
        player.say("Starting Spark …")
        _ = stream.sessions.small
        with in_background(Worker(stream.dsn, stream.sessions)):
            for step in STEPS:
                player.play(stream, step)
        verified = player.verify(stream)
        seconds = round(time.perf_counter() - started, 1)
        ways = _ways(stream, path)
    if as_json:
        emit({"steps": player.record, "verified": verified, "seconds": seconds, "go_on": ways})
    else:
        player.farewell(ways, seconds)
    if any(row["result"] != "exact" for row in verified):
        raise typer.Exit(1)


def _clean(stream: PgStream) -> None:
    """Drops what an earlier demo has left."""
    there = {row["name"] for row in stream.status()}
    for name in STREAM_TABLES:
        if f"public.{name}" in there:
            stream.drop_stream_table(name)
    stream.execute("SET client_min_messages = warning")
    for name in SOURCES:
        stream.execute(f"DROP TABLE IF EXISTS public.{name}")


def _settle(stream: PgStream, player: Player) -> None:
    player.say(
        "The tables are tiny, so every change is a large share of them. This setting keeps the"
        " refreshes differential all the same:"
    )
    player.run(stream, "ALTER DATABASE postgres SET pg_stream.differential_max_change_ratio = '0';")


def _ways(stream: PgStream, path: Path) -> dict[str, Any]:
    """How to go on: commands to copy."""
    assert stream.server is not None
    found = shutil.which("pgstream")
    program = "pgstream" if found else shlex.quote(sys.argv[0])
    folder = shlex.quote(str(path))
    psql = shlex.quote(str(stream.server.bin_directory / "psql"))
    return {
        "serve": f"{program} serve --embedded {folder}",
        "psql": f"{psql} {shlex.quote(stream.dsn)}",
        "list": f"{program} list --embedded {folder}",
        "explain": f"{program} explain department_stats --embedded {folder}",
    }
