"""The commands as a whole."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from pgstream.cli.app import BENCHES, COMMANDS, app

NAMES = [name for name, _ in COMMANDS]
EVERY = [*NAMES, *(f"bench {name}" for name, _ in BENCHES)]


def help_of(*arguments: str) -> str:
    result = CliRunner().invoke(app, [*arguments, "--help"], env={"COLUMNS": "120"})
    assert result.exit_code == 0
    return result.stdout


def test_help_lists_every_command_in_one_line() -> None:
    lines = help_of().splitlines()
    for name in NAMES:
        assert any(f"│ {name} " in line for line in lines), name


@pytest.mark.parametrize("name", EVERY)
def test_every_command_has_an_example_and_json(name: str) -> None:
    text = help_of(*name.split())
    assert f"Example: pgstream {name}" in text
    assert "--json" in text


@pytest.mark.parametrize("name", [name for name in EVERY if name != "demo"])
def test_every_command_can_use_an_embedded_server(name: str) -> None:
    text = help_of(*name.split())
    assert "--embedded" in text
    assert "PGSTREAM_DSN" in text


def test_help_shows_brackets() -> None:
    assert "pip install 'pgstream[bench]'" in help_of("bench", "tpch")


def test_help_imports_neither_spark_nor_the_driver() -> None:
    code = (
        "import sys; from pgstream.cli.app import app\n"
        "print([m for m in ('pyspark', 'psycopg', 'pyarrow', 'sqlglot') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
