"""Which function failed, from PostgreSQL's CONTEXT."""

from __future__ import annotations

import psycopg
import pytest
from psycopg import errors

from pgstream.database.sqlstates import path_hint, translate, user_function
from pgstream.errors import ConnectionFailed, PgStreamError, ServerShort


@pytest.mark.parametrize(
    ("context", "function"),
    [
        ("PL/pgSQL function public.f(integer,text) line 3 at RETURN", "public.f(integer,text)"),
        ('SQL function "g" during inlining', "g"),
        ('SQL statement "SELECT 1"\nPL/pgSQL function s.f(int) line 1 at PERFORM', "s.f(int)"),
        (
            "PL/pgSQL function f(integer) line 1\nPL/pgSQL function pgstream._check_query(text)",
            None,
        ),
        ("COPY t, line 1", None),
        ("", None),
    ],
)
def test_the_function_that_looks_for_its_helpers(context: str, function: str | None) -> None:
    assert user_function(context) == function


def test_the_hint_is_a_statement() -> None:
    assert "ALTER FUNCTION public.f(int) SET search_path = public" in path_hint("public.f(int)")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (errors.DiskFull, ServerShort),
        (errors.OutOfMemory, ServerShort),
        (errors.DeadlockDetected, ServerShort),
        (errors.LockNotAvailable, ServerShort),
        (errors.AdminShutdown, ConnectionFailed),
    ],
)
def test_what_may_pass_is_transient(error: type[psycopg.Error], kind: type[PgStreamError]) -> None:
    known = translate(error("no"))
    assert type(known) is kind
    assert known.transient
