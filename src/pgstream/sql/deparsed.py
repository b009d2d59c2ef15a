"""Reads and writes PostgreSQL's own deparsed SQL, function calls word for word.

sqlglot knows hundreds of functions and rewrites many of them. Here it knows only those that
the algebra converts and those with a syntax of their own; every other call stays as it is.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.dialects.postgres import Postgres

from pgstream.errors import UnsupportedConstruct
from pgstream.sql.cut import TABLE, listed_values, values_select
from pgstream.sql.json_calls import NAMES, JsonCall, json_call_sql, parse_json_call
from pgstream.sql.parse import Query
from pgstream.sql.walk import argument_mark

KNOWN = frozenset(
    ("COALESCE", "GREATEST", "LEAST", "NULLIF", "ABS", "LENGTH", "SPLIT_PART", "COUNT", "SUM",
     "AVG", "MIN", "MAX")
)  # fmt: skip
OWN_SYNTAX = frozenset(
    ("CAST", "EXTRACT", "TRIM", "OVERLAY", "SUBSTRING", "POSITION", "NORMALIZE", "XMLELEMENT",
     "XMLTABLE")
)  # fmt: skip

NEGATED: dict[type, str] = {exp.RegexpLike: "!~", exp.RegexpILike: "!~*"}


def _operation(operator: str, parser: Any, left: exp.Expr) -> exp.Expr:
    return exp.Operator(this=left, operator=operator, expression=parser._parse_bitwise())


# Operators that sqlglot's PostgreSQL does not know. They share a token that it does not use.
UNKNOWN = ("<<=", ">>=", "~=", "##", "&<|", "<<|", "|&>", "|>>", "<^", ">^", "?#", "?-|", "?||")
OPERATOR = TokenType.PIPE_GT
# Likewise a type: without it, `x::bit varying` is read as x::bit, named varying.
BIT_VARYING = TokenType.UMEDIUMINT
# Names of types that it reads as something else, in oid[].
OBJECTS = tuple(
    name
    for name, token in Postgres.Tokenizer.KEYWORDS.items()
    if token is TokenType.OBJECT_IDENTIFIER
)


class Prefix(exp.Unary):
    """OPERATOR(public.-) x"""

    arg_types = {"this": True, "operator": True}  # noqa: RUF012


def _prefix_sql(generator: Any, node: Prefix) -> str:
    return f"OPERATOR({node.args['operator']}) {generator.sql(node, 'this')}"


class Deparsed(Postgres):
    class Tokenizer(Postgres.Tokenizer):
        KEYWORDS = {  # noqa: RUF012
            **Postgres.Tokenizer.KEYWORDS,
            **dict.fromkeys(UNKNOWN, OPERATOR),
            **dict.fromkeys(OBJECTS, TokenType.VAR),
            "BIT VARYING": BIT_VARYING,
        }

    class Parser(Postgres.Parser):  # type: ignore[misc, valid-type]
        FUNCTIONS = {n: f for n, f in Postgres.Parser.FUNCTIONS.items() if n in KNOWN}  # noqa: RUF012
        FUNCTION_PARSERS = {  # noqa: RUF012
            **{n: f for n, f in Postgres.Parser.FUNCTION_PARSERS.items() if n in OWN_SYNTAX},
            **{name: partial(parse_json_call, name=name) for name in NAMES},
        }
        QUOTED_TYPES_TO_PRESERVE = frozenset(("bit", "char"))
        """"bit" is a string of any length, bit is one of length 1."""
        PLACEHOLDER_PARSERS = {  # noqa: RUF012
            **Postgres.Parser.PLACEHOLDER_PARSERS,
            TokenType.PARAMETER: lambda self: exp.Abs(this=self._parse_unary()),  # @ x
        }
        RANGE_PARSERS = {  # noqa: RUF012
            **Postgres.Parser.RANGE_PARSERS,
            TokenType.CARET_AT: partial(_operation, "^@"),
            TokenType.DAT: partial(_operation, "@@"),
            OPERATOR: lambda self, left: _operation(self._prev.text, self, left),
        }

        def _negate_range(self, this: exp.Expr | None = None) -> exp.Expr | None:
            """g !~ ALL (…) is not NOT (g ~ ALL (…)): the operator stays one."""
            operator = NEGATED.get(type(this))
            if operator is None:
                return super()._negate_range(this)  # type: ignore[no-any-return]
            assert this is not None
            right = this.args["expression"]
            return exp.Operator(this=this.this, operator=operator, expression=right)

        def _parse_operator(self, this: exp.Expr | None) -> exp.Expr | None:
            """a OPERATOR(public.=) b: a user's operator, whatever its name, is no other."""
            if not self._curr or self._curr.token_type is not TokenType.L_PAREN:
                return super()._parse_operator(this)  # type: ignore[no-any-return]
            name = self._operator_name()
            return exp.Operator(this=this, operator=name, expression=self._parse_bitwise())

        def _parse_unary(self) -> exp.Expr | None:
            if self._match(TokenType.OPERATOR):
                name = self._operator_name()
                return Prefix(this=self._parse_unary(), operator=name)
            return super()._parse_unary()  # type: ignore[no-any-return]

        def _operator_name(self) -> str:
            """What stands in the parentheses, with the quotes of its schema."""
            self._match_l_paren()
            first = self._curr
            while self._curr and self._curr.token_type is not TokenType.R_PAREN:
                self._advance()
            name = str(self._find_sql(first, self._prev))
            self._match_r_paren()
            return name

        def _parse_at_time_zone(self, this: exp.Expr | None) -> exp.Expr | None:
            """x AT LOCAL is timezone(x)."""
            if this is not None and self._match_text_seq("AT", "LOCAL"):
                this = exp.Anonymous(this="timezone", expressions=[this])
            return super()._parse_at_time_zone(this)  # type: ignore[no-any-return]

        def _parse_lateral(self) -> exp.Lateral | None:
            """LATERAL before ROWS FROM (…) says nothing: a function sees what is before it."""
            if self._curr.text == "LATERAL" and self._next and self._next.text == "ROWS":
                self._advance()
                return None
            return super()._parse_lateral()  # type: ignore[no-any-return]

    class Generator(Postgres.Generator):  # type: ignore[misc, valid-type]
        MULTI_ARG_DISTINCT = True
        TYPE_MAPPING = {  # noqa: RUF012
            **Postgres.Generator.TYPE_MAPPING,
            exp.DataType.Type.UMEDIUMINT: "BIT VARYING",
        }
        TRANSFORMS = {  # noqa: RUF012
            **Postgres.Generator.TRANSFORMS,
            JsonCall: json_call_sql,
            Prefix: _prefix_sql,
            exp.CurrentTime: lambda *_: "CURRENT_TIME",
            # The parser drops the quotes of the argument's name.
            exp.Kwarg: lambda self, node: f"{argument_mark(node)}{self.sql(node, 'expression')}",
        }

        def table_sql(self, expression: exp.Table, sep: str = " AS ") -> str:
            """WITH ORDINALITY stands before the joins."""
            if not (expression.args.get("ordinality") and expression.args.get("joins")):
                return super().table_sql(expression, sep)  # type: ignore[no-any-return]
            alone = expression.copy()
            alone.set("joins", None)
            joins = self.expressions(expression, key="joins", sep="", flat=True)
            return f"{super().table_sql(alone, sep)}{joins}"


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
    for select in list(statement.find_all(exp.Select)):
        if select is not statement and (values := listed_values(select)) is not None:
            select.replace(_select_from(values, select))
    for column in list(statement.find_all(exp.Column)):
        if _is_word(column):
            column.replace(exp.var(column.name))
    return statement


def _select_from(values: exp.Values, select: exp.Select) -> exp.Select:
    """The parser reads VALUES as SELECT *; PostgreSQL calls its rows "*VALUES*" in ORDER BY."""
    made = values_select(values)
    for clause in ("with_", "order", "limit", "offset"):
        made.set(clause, select.args.get(clause))
    order = made.args.get("order")
    for column in order.find_all(exp.Column) if order else ():
        if column.table == "*VALUES*":
            column.set("table", exp.to_identifier(TABLE))
    return made


def _is_word(column: exp.Column) -> bool:
    """CURRENT_ROLE, or NORMALIZED after IS: PostgreSQL quotes capitals in names."""
    identifier = column.this
    if column.args.get("table") or not isinstance(identifier, exp.Identifier):
        return False
    return not identifier.args.get("quoted") and identifier.name.isupper()


def write(node: exp.Expr) -> str:
    return str(node.sql(dialect=Deparsed, normalize_functions=False))


def cast_node(node: exp.Expr, type_: str) -> exp.Cast:
    """CAST(node AS type), for a type as PostgreSQL writes it."""
    made = sqlglot.parse_one(f"CAST(NULL AS {type_})", dialect=Deparsed)
    assert isinstance(made, exp.Cast)
    made.set("this", node.copy())
    return made
