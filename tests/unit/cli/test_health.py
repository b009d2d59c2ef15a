"""The exit code of `pgstream health`, for monitors."""

from __future__ import annotations

import pytest

from pgstream.cli.health import _exit_code
from pgstream.monitor.health import Finding, Severity

NOTICE = Finding("wal", Severity.NOTICE, "public.t", "stays on triggers", None)
WARNING = Finding("buffers", Severity.WARNING, "public.t", "grows", None)
ERROR = Finding("capture", Severity.ERROR, "public.t", "trigger_missing (insert)", None)


@pytest.mark.parametrize(
    ("found", "code"),
    [([], 0), ([NOTICE], 0), ([WARNING, NOTICE], 1), ([ERROR], 2), ([WARNING, ERROR], 2)],
)
def test_exit_code(found: list[Finding], code: int) -> None:
    assert _exit_code(found) == code
