"""parse: the text of one query to its syntax tree."""

from __future__ import annotations

from sqlglot import exp

from pgstream.errors import (
    EmptyQuery,
    MultipleStatements,
    NotASelect,
    SyntaxFault,
    UnsupportedConstruct,
)
from pgstream.sql.grammar import GrammarError, Statement, Tree, character, statements
from pgstream.sql.positions import position_of_offset, position_of_word
from pgstream.sql.read.listed import select_values
from pgstream.sql.read.queries import query

Query = exp.Select | exp.SetOperation


def parse(text: str) -> Query:
    """The one SELECT in the text; anything else is an error that says what it is."""
    found = _statements(text)
    if not found:
        raise EmptyQuery("The defining query is empty.", hint="Give one SELECT statement.")
    if len(found) > 1:
        raise MultipleStatements(
            f"The defining query holds {len(found)} statements.",
            hint="Give one SELECT statement; create one stream table per query.",
        )
    (statement,) = found
    if statement.kind != "select_stmt":
        raise NotASelect(
            f"A stream table is defined by a SELECT, not by {_name(statement)}.",
            hint="Give one SELECT statement.",
        )
    try:
        return query_of(statement.tree, text)
    except UnsupportedConstruct as error:
        position = position_of_word(text, error.construct or "")
        if position is not None:
            error.line, error.column = position
        raise


def query_of(tree: Tree, text: str) -> Query:
    """The query of PostgreSQL's parse tree, whose positions are offsets in the text."""
    if "VALUES" in text.upper():
        select_values(tree)
    made = query(tree)
    if not text.isascii():
        for node in made.walk():
            if "start" in node.meta:
                node.meta["start"] = character(text, node.meta["start"])
    return made


def _statements(text: str) -> list[Statement]:
    try:
        return statements(text or "")
    except GrammarError as error:
        position = None if error.offset is None else position_of_offset(text, error.offset)
        raise SyntaxFault(
            f"{error.message[:1].upper()}{error.message[1:]}.",
            line=position.line if position else None,
            column=position.column if position else None,
            hint="Run the query in psql to see PostgreSQL's own message.",
        ) from None


def _name(statement: Statement) -> str:
    """INSERT for insert_stmt."""
    return statement.kind.removesuffix("_stmt").replace("_", " ").upper()
