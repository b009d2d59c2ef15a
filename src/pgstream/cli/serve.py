"""pgstream serve"""

from __future__ import annotations

import signal
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgstream.cli.log_lines import LogLines
from pgstream.cli.options import AsJson, Dsn, Embedded, database

if TYPE_CHECKING:
    from pgstream.schedule.worker import Worker


def serve(
    dsn: Dsn = None,
    embedded: Embedded = None,
    once: Annotated[
        bool,
        typer.Option("--once", help="Do what is to be done now, then end; 1 if a refresh fails."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Keep stream tables fresh: the worker.

    It answers refreshes asked for in SQL, builds new stream tables and refreshes what is due.
    It logs to stderr, with --json one JSON document per line. Ctrl-C and SIGTERM end it after
    the refreshes under way, which have shutdown_timeout; SIGHUP reads the settings again. Two
    workers at once are safe.

    Example: pgstream serve --dsn postgresql://me@localhost/shop
    """
    from pgstream.schedule.worker import Worker

    log = LogLines(as_json)
    with database(dsn, embedded) as stream:
        worker = Worker(stream.dsn, stream.sessions, log)
        info = stream.connection.info
        log.greet(info.dbname, info.host)
        _once(worker) if once else _forever(worker)
    log.line("stopped", "stopped")
    if once and worker.failures:
        raise typer.Exit(1)


def _once(worker: Worker) -> None:
    try:
        worker.open()
        worker.tick()
    finally:
        worker.close()


def _forever(worker: Worker) -> None:
    worker.open()
    _follow_signals(worker)
    with _health(worker):
        worker.start_spark()
        worker.run()


def _health(worker: Worker) -> AbstractContextManager[object]:
    """Where a port is given, monitors may ask."""
    from pgstream.web.health import serve_health

    port = worker.settings.worker_port
    if not port:
        return nullcontext()
    return serve_health(port, lambda: worker.is_alive, lambda: worker.is_ready)


def _follow_signals(worker: Worker) -> None:
    def end(number: int, frame: Any) -> None:
        if worker.stopping:
            raise KeyboardInterrupt  # asked twice: at once
        worker.stop()

    signal.signal(signal.SIGINT, end)
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGHUP, lambda number, frame: worker.reload())
