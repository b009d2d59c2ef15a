"""/healthz and /readyz on localhost: whether a worker lives, and whether it takes work.

200 if so, else 503. Only this machine can ask, and it learns nothing more.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from pgstream.errors import SettingError

HOST = "127.0.0.1"
PATIENCE_SECONDS = 5.0
"""A client that has not asked by then is left."""

Check = Callable[[], bool]


@contextmanager
def serve_health(port: int, is_alive: Check, is_ready: Check) -> Iterator[int]:
    """Answers until the block ends; gives the port, which the system chooses if it is 0."""
    checks = {"/healthz": is_alive, "/readyz": is_ready}
    with _open(port, checks) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.1,), name="health")
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True  # a client that hangs does not keep a worker from ending

    def __init__(self, port: int, checks: Mapping[str, Check]) -> None:
        self.checks = checks
        super().__init__((HOST, port), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away is no news."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = PATIENCE_SECONDS

    def do_GET(self) -> None:
        check = self.server.checks.get(self.path.partition("?")[0])
        if check is None:
            self._answer(404, "not found\n")
        elif check():
            self._answer(200, "ok\n")
        else:
            self._answer(503, "no\n")

    do_HEAD = do_GET  # noqa: N815

    def _answer(self, status: int, words: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(words)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(words.encode())

    def version_string(self) -> str:
        return "pgstream"

    def log_message(self, format: str, *values: object) -> None:
        """Probes come every few seconds."""


def _open(port: int, checks: Mapping[str, Check]) -> _Server:
    try:
        return _Server(port, checks)
    except OSError as error:
        raise SettingError(
            f"Port {port} of localhost cannot be used: {error.strerror}",
            hint="Set another worker_port, or 0 for none. Each worker on a machine needs its own.",
        ) from error
