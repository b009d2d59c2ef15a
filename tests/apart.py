"""Scripts that run in a process of their own, with a Spark of their own, which they may kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from helpers import SHORT_LIVED

TESTS = Path(__file__).parent
SCRIPTS = TESTS / "e2e" / "apart"


def run_apart(script: str, *arguments: str, seconds: int = 300) -> None:
    """Runs it to its end, which must be a good one. Whatever it started is ended too."""
    paths = [str(TESTS), str(TESTS.parent / "src"), os.environ.get("PYTHONPATH", "")]
    process = subprocess.Popen(
        [sys.executable, str(SCRIPTS / script), *arguments],
        env={**SHORT_LIVED, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=seconds)
    finally:
        end_group(process)
    print(said)
    assert process.returncode == 0, said[-3000:]


def end_group(process: subprocess.Popen[str]) -> None:
    """The process and its children, as long as they stayed in its group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()
