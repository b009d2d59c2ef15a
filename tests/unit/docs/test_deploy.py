"""The systemd unit starts a command that exists, and leaves it time to end."""

from __future__ import annotations

import configparser
import re

import typer

from documents import ROOT
from pgstream.cli.app import app
from pgstream.settings import DECLARED, Settings

TEXT = (ROOT / "deploy" / "pgstream.service").read_text(encoding="utf-8")


def unit() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, comment_prefixes=("#",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(TEXT)
    return parser


def test_the_command_and_its_options_exist() -> None:
    program, command, *options = unit()["Service"]["ExecStart"].split()
    assert program.endswith("/pgstream")
    known = typer.main.get_command(app).commands[command]  # type: ignore[attr-defined]
    assert set(options) <= {name for each in known.params for name in each.opts}


def test_a_reload_is_sighup() -> None:
    assert unit()["Service"]["ExecReload"] == "/bin/kill -HUP $MAINPID"


def test_it_is_stopped_after_the_worker_has_ended_by_itself() -> None:
    assert int(unit()["Service"]["TimeoutStopSec"]) > Settings().shutdown_timeout + 10


def test_the_settings_that_it_names_exist() -> None:
    known = {each.environment_name for each in DECLARED} | {"PGSTREAM_DSN"}
    assert set(re.findall(r"PGSTREAM_\w+", TEXT)) <= known
