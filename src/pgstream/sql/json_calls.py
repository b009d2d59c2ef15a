"""Reads and writes the calls of SQL/JSON, whose arguments are connected by words.

    JSON_ARRAYAGG(t.x ORDER BY t.id NULL ON NULL RETURNING jsonb)
    JSON_TABLE(t.doc, '$[*]' AS path COLUMNS (v integer PATH '$'))

A call is kept as PostgreSQL prints it: a list of expressions, and of words and signs between
them. PostgreSQL prints these words in capitals, and quotes a name with capitals.
"""

from __future__ import annotations

from typing import Any

from sqlglot import TokenType, exp

NAMES = frozenset(
    """JSON JSON_ARRAY JSON_ARRAYAGG JSON_EXISTS JSON_OBJECT JSON_OBJECTAGG JSON_QUERY
    JSON_SERIALIZE JSON_TABLE JSON_VALUE""".split()
)
WORDS = frozenset(
    """ABSENT AS CONDITIONAL DEFAULT EMPTY ENCODING ERROR FALSE FORMAT JSON KEEP KEYS OMIT ON
    OBJECT PASSING QUOTES STRING TRUE UNCONDITIONAL UNIQUE UNKNOWN UTF8 WITH WITHOUT
    WRAPPER""".split()
)
SIGNS = (TokenType.COMMA, TokenType.COLON)


class JsonCall(exp.Anonymous):
    """The call; its expressions are values, an order, a type, and words."""


def parse_json_call(parser: Any, name: str) -> JsonCall:
    """What stands between the parentheses."""
    pieces: list[exp.Expr] = []
    while parser._curr and parser._curr.token_type != TokenType.R_PAREN:
        pieces += _piece(parser)
    return JsonCall(this=name, expressions=pieces)


def _piece(parser: Any) -> list[exp.Expr]:
    token, after = parser._curr, parser._next
    text = token.text if token.token_type != TokenType.STRING else ""
    if text == "RETURNING":
        parser._advance()
        return [exp.Var(this=text), parser._parse_types()]
    if text == "COLUMNS":
        return [_columns(parser)]
    if token.token_type == TokenType.ORDER_BY:
        return [parser._parse_order()]
    is_null_clause = text == "NULL" and after and after.text in ("ON", ")")
    if text in WORDS or token.token_type in SIGNS or is_null_clause:
        parser._advance()
        if text == "AS":
            return [exp.Var(this=text), parser._parse_id_var()]
        if text == "EMPTY" and parser._curr.text == "ARRAY":
            parser._advance()
            text = "EMPTY ARRAY"
        return [exp.Var(this=text)]
    value = parser._parse_disjunction()
    if value is None:
        parser.raise_error("Expected a value in a call of SQL/JSON")
    return [value]


def _columns(parser: Any) -> exp.Var:
    """COLUMNS (…) of JSON_TABLE, which reads no columns of other tables, as it is written."""
    first = parser._curr
    parser._advance()
    depth = 0
    while parser._curr:
        sign = parser._curr.token_type
        depth += (sign == TokenType.L_PAREN) - (sign == TokenType.R_PAREN)
        parser._advance()
        if depth == 0:
            break
    return exp.Var(this=parser._find_sql(first, parser._prev))


def json_call_sql(generator: Any, call: JsonCall) -> str:
    inside = " ".join(generator.sql(piece).strip() for piece in call.expressions)
    return f"{call.name}({inside})"
