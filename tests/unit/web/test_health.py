"""/healthz and /readyz, asked over HTTP."""

from __future__ import annotations

import http.client
import socket

import pytest

from pgstream.errors import SettingError
from pgstream.web.health import serve_health


def ask(port: int, path: str, method: str = "GET") -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request(method, path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_each_asks_its_check_each_time() -> None:
    state = {"alive": True, "ready": False}
    with serve_health(0, lambda: state["alive"], lambda: state["ready"]) as port:
        assert ask(port, "/healthz") == (200, b"ok\n")
        assert ask(port, "/readyz") == (503, b"no\n")
        state.update(alive=False, ready=True)
        assert ask(port, "/healthz?verbose=1") == (503, b"no\n")
        assert ask(port, "/readyz") == (200, b"ok\n")


def test_other_paths_and_methods() -> None:
    with serve_health(0, lambda: True, lambda: True) as port:
        assert ask(port, "/")[0] == 404
        assert ask(port, "/healthz/x")[0] == 404
        assert ask(port, "/healthz", "HEAD") == (200, b"")
        assert ask(port, "/healthz", "POST")[0] == 501


def test_a_client_that_says_nothing_keeps_nobody_waiting() -> None:
    with (
        serve_health(0, lambda: True, lambda: True) as port,
        socket.create_connection(("127.0.0.1", port)),
    ):
        assert ask(port, "/healthz")[0] == 200


def test_a_port_that_is_taken() -> None:
    with (
        serve_health(0, lambda: True, lambda: True) as port,
        pytest.raises(SettingError, match=f"Port {port} of localhost cannot be used"),
        serve_health(port, lambda: True, lambda: True),
    ):
        pass


def test_the_port_is_free_again() -> None:
    with serve_health(0, lambda: True, lambda: True) as port:
        pass
    with serve_health(port, lambda: True, lambda: True) as again:
        assert ask(again, "/readyz")[0] == 200
