"""Reads and writes PostgreSQL's own deparsed SQL, function calls word for word.

sqlglot knows hundreds of functions and rewrites many of them. Here it knows only those that
the algebra converts and those with a syntax of their own; every other call stays as it is.
"""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.dialects.postgres import Postgres

from pgstream.errors import UnsupportedConstruct
from pgstream.sql.parse import Query

KNOWN = frozenset(
    ("COALESCE", "GREATEST", "LEAST", "NULLIF", "ABS", "LENGTH", "SPLIT_PART", "COUNT", "SUM",
     "AVG", "MIN", "MAX")
)  # fmt: skip
OWN_SYNTAX = frozenset(
    ("CAST", "EXTRACT", "TRIM", "OVERLAY", "SUBSTRING", "POSITION", "NORMALIZE", "XMLELEMENT",
     "XMLTABLE", "JSON_OBJECT", "JSON_OBJECTAGG", "JSON_TABLE")
)  # fmt: skip


class Deparsed(Postgres):
    class Parser(Postgres.Parser):  # type: ignore[misc, valid-type]
        FUNCTIONS = {n: f for n, f in Postgres.Parser.FUNCTIONS.items() if n in KNOWN}  # noqa: RUF012
        FUNCTION_PARSERS = {  # noqa: RUF012
            n: f for n, f in Postgres.Parser.FUNCTION_PARSERS.items() if n in OWN_SYNTAX
        }


def parse_deparsed(text: str) -> Query:
    try:
        statement = sqlglot.parse_one(text, dialect=Deparsed)
    except sqlglot.errors.SqlglotError as error:
        raise UnsupportedConstruct(
            "The query uses a syntax that pgstream cannot read.",
            construct="syntax",
            detail=str(error).splitlines()[0],
            hint="Move that part into a view's or a function's body, or leave it out.",
        ) from None
    while isinstance(statement, exp.Subquery) and not statement.alias:
        statement = statement.this
    assert isinstance(statement, exp.Select | exp.SetOperation)
    return statement


def write(node: exp.Expr) -> str:
    return str(node.sql(dialect=Deparsed, normalize_functions=False))
