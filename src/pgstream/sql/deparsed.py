"""Reads PostgreSQL's own deparsed SQL by PostgreSQL's own grammar, and writes it back."""

from __future__ import annotations

from sqlglot import exp

from pgstream.errors import UnsupportedConstruct
from pgstream.sql.grammar import GrammarError, statements
from pgstream.sql.parse import Query, query_of
from pgstream.sql.read.types import named_type
from pgstream.sql.round_trip import require_round_trip
from pgstream.sql.writer import write

__all__ = ["cast_node", "parse_deparsed", "write"]

# The first pass refuses them, by their names; they are not written.
REFUSED = (exp.Into, exp.Lock, exp.Parameter, exp.TableSample)


def parse_deparsed(text: str) -> Query:
    try:
        (statement,) = statements(text)
    except GrammarError as error:
        raise UnsupportedConstruct(
            "The query uses a syntax that pgstream cannot read.",
            construct="syntax",
            detail=error.message,
            hint="Move that part into a view's or a function's body, or leave it out.",
        ) from None
    made = query_of(statement.tree, text)
    if not made.find(*REFUSED):
        require_round_trip(statement.tree, made)
    return made


def cast_node(node: exp.Expr, type_: str) -> exp.Cast:
    """CAST(node AS type), for a type as PostgreSQL writes it."""
    return exp.Cast(this=node.copy(), to=named_type(type_).copy())
