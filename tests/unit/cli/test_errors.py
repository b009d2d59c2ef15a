"""What users see when something goes wrong: never a stack trace."""

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest
from typer.testing import CliRunner, Result

from pgstream.cli.app import app
from pgstream.errors import ConnectionFailed, SyntaxFault

Fail = Callable[[BaseException], None]


def run(*arguments: str, **options: Any) -> Result:
    return CliRunner().invoke(app, list(arguments), **options)


@pytest.fixture(autouse=True)
def _no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PGSTREAM_DSN", raising=False)
    monkeypatch.delenv("PGSTREAM_DEBUG", raising=False)


@pytest.fixture
def fail(monkeypatch: pytest.MonkeyPatch) -> Fail:
    """Makes `pgstream list` raise."""

    def with_error(error: BaseException) -> None:
        def database(dsn: str | None, embedded: Path | None) -> NoReturn:
            raise error

        monkeypatch.setattr("pgstream.cli.list.database", database)

    return with_error


def test_without_an_address_both_ways_are_named() -> None:
    result = run("list")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("error [PGS-0101]: No database is given.")
    assert "--dsn" in result.stderr
    assert "PGSTREAM_DSN" in result.stderr


def test_a_code_a_sentence_with_its_place_a_detail_and_a_hint(fail: Fail) -> None:
    fail(SyntaxFault("Odd word.", detail="Near FORM.", hint="Write FROM.", line=2, column=7))
    result = run("list")
    assert result.exit_code == 1
    assert result.stderr == (
        "error [PGS-0201]: Odd word (line 2, column 7).\nNear FORM.\nHint: Write FROM.\n"
    )


def test_an_error_as_json_is_all_that_is_on_stdout(fail: Fail) -> None:
    fail(SyntaxFault("Odd word.", hint="Write FROM.", line=2, column=7))
    result = run("list", "--json")
    assert result.exit_code == 1
    assert result.stderr == ""
    assert json.loads(result.stdout) == {
        "error": {
            "code": "PGS-0201",
            "message": "Odd word.",
            "detail": None,
            "hint": "Write FROM.",
            "line": 2,
            "column": 7,
        }
    }


def test_an_error_without_a_place_has_none(fail: Fail) -> None:
    fail(ConnectionFailed("cannot connect"))
    error = json.loads(run("list", "--json").stdout)["error"]
    assert (error["code"], error["line"], error["column"]) == ("PGS-0102", None, None)


def test_markup_in_a_message_is_text(fail: Fail) -> None:
    fail(ConnectionFailed("no [bold]host[/bold] [1]"))
    assert "no [bold]host[/bold] [1]" in run("list").stderr


def test_an_unexpected_error_is_one_line(fail: Fail) -> None:
    fail(ZeroDivisionError("odd\nsecond line"))
    result = run("list")
    assert result.exit_code == 1
    assert "ZeroDivisionError: odd\n" in result.stderr
    assert "PGSTREAM_DEBUG=1" in result.stderr
    assert "Traceback" not in result.stderr


def test_debugging_shows_the_trace(fail: Fail) -> None:
    fail(ZeroDivisionError("odd"))
    result = run("list", env={"PGSTREAM_DEBUG": "1"})
    assert result.exit_code == 1
    assert "Traceback" in result.stderr


def test_ctrl_c_is_130(fail: Fail) -> None:
    fail(KeyboardInterrupt())
    result = run("list")
    assert result.exit_code == 130
    assert "Traceback" not in result.output


def test_a_wrong_setting_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGSTREAM_MAX_CONSECUTIVE_ERRORS", "0")
    result = run("bench", "--rows", "100")
    assert result.exit_code == 1
    assert "max_consecutive_errors" in result.stderr


def test_warnings_about_a_query_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    from pgstream.client import PgStreamWarning

    def database(dsn: str | None, embedded: Path | None) -> NoReturn:
        warnings.warn("now() is only STABLE", PgStreamWarning, stacklevel=1)
        warnings.warn("a library is old", DeprecationWarning, stacklevel=1)
        raise ConnectionFailed("no")

    monkeypatch.setattr("pgstream.cli.list.database", database)
    result = run("list")
    assert result.stderr == "warning: now() is only STABLE\nerror [PGS-0102]: no\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("create", "t"),
        ("create", "t", "SELECT 1", "--file", __file__),
        ("alter", "t"),
        ("verify",),
        ("verify", "t", "--all"),
        ("bench", "--scenario", "nothing"),
        ("bench", "plans", "--scenario", "nothing"),
        ("bench", "plans", "--changes", "1,some"),
        ("bench", "writes", "--writers", "1,some"),
        ("bench", "tpch", "--query", "q23"),
        ("bench", "tpch", "--changed", "orders,nothing"),
        ("history", "t", "--limit", "0"),
        ("nonsense",),
    ],
)
def test_wrong_usage_is_2(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Error" in result.stderr
