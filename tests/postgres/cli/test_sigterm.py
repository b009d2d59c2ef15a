"""A command that is ended takes along what it has started."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 0)])
def test_an_embedded_server_ends_with_its_command(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    main = "from pgstream.cli import main; main()"
    command = [sys.executable, "-c", main, "watch", "--embedded", str(tmp_path)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        try:
            assert "listening" in process.stderr.readline()
            assert list(tmp_path.rglob("postmaster.pid"))
            process.send_signal(number)
            assert process.wait(timeout=60) == code
        finally:
            process.kill()
    assert not list(tmp_path.rglob("postmaster.pid"))
