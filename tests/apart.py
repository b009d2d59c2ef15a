"""Scripts that run in a process of their own, with a Spark of their own, which they may kill."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from helpers import SHORT_LIVED

TESTS = Path(__file__).parent
SCRIPTS = TESTS / "e2e" / "apart"


def run_apart(script: str, *arguments: str, seconds: int = 600) -> None:
    """Runs it to its end, which must be a good one. Whatever it started is ended too."""
    paths = [str(TESTS), str(TESTS.parent / "src"), os.environ.get("PYTHONPATH", "")]
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            [sys.executable, "-X", "faulthandler", str(SCRIPTS / script), *arguments],
            env={**SHORT_LIVED, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            _wait(process, seconds)
        finally:
            with contextlib.suppress(ProcessLookupError):  # all of its group
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        log.seek(0)
        said = log.read()
    print(said)
    assert process.returncode == 0, said[-5000:]


def _wait(process: subprocess.Popen[bytes], seconds: int) -> None:
    """If it does not end it is told to, and says where it was."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)
        process.wait(5)
