"""parse: the text of one query to its syntax tree."""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from pgstream.errors import EmptyQuery, MultipleStatements, NotASelect, SyntaxFault

Query = exp.Select | exp.SetOperation


def parse(text: str) -> Query:
    """The one SELECT in the text; anything else is an error that says what it is."""
    if not text or not text.strip().strip(";").strip():
        raise EmptyQuery(
            "The defining query is empty.",
            hint="Give one SELECT statement.",
        )
    statements = [s for s in _statements(text) if s and not isinstance(s, exp.Semicolon)]
    if not statements:
        raise EmptyQuery("The defining query is empty.", hint="Give one SELECT statement.")
    if len(statements) > 1:
        raise MultipleStatements(
            f"The defining query holds {len(statements)} statements.",
            hint="Give one SELECT statement; create one stream table per query.",
        )
    (statement,) = statements
    while isinstance(statement, exp.Subquery) and not statement.alias:
        statement = statement.this
    if not isinstance(statement, exp.Select | exp.SetOperation):
        raise NotASelect(
            f"A stream table is defined by a SELECT, not by {_kind(statement)}.",
            hint="Give one SELECT statement.",
        )
    return statement


def _statements(text: str) -> list[exp.Expr | None]:
    try:
        return list(sqlglot.parse(text, dialect="postgres"))
    except SqlglotError as error:
        details = getattr(error, "errors", None) or [{}]
        first = details[0]
        near = first.get("highlight")
        message = f"Syntax error at or near {near!r}" if near else "Syntax error"
        raise SyntaxFault(
            f"{message}.",
            line=first.get("line"),
            column=first.get("col"),
            hint="Run the query in psql to see PostgreSQL's own message.",
        ) from None


def _kind(statement: exp.Expr) -> str:
    if isinstance(statement, exp.Command):
        return str(statement.this).upper()
    return type(statement).__name__.upper()
