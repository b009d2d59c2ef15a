"""Errors about a defining query."""

from pgstream.errors.base import PgStreamError


class QueryError(PgStreamError):
    """The defining query cannot be a stream table; `construct` names what is in the way."""

    code = "PGS-0200"

    def __init__(
        self,
        message: str,
        *,
        detail: str | None = None,
        hint: str | None = None,
        line: int | None = None,
        column: int | None = None,
        construct: str = "",
    ) -> None:
        super().__init__(message, detail=detail, hint=hint)
        self.line = line
        self.column = column
        self.construct = construct

    @property
    def sentence(self) -> str:
        if self.line is None:
            return self.message
        position = f"line {self.line}" + (f", column {self.column}" if self.column else "")
        stop = "." if self.message.endswith(".") else ""
        return f"{self.message.removesuffix('.')} ({position}){stop}"


class SyntaxFault(QueryError):
    """The query does not parse."""

    code = "PGS-0201"


class EmptyQuery(QueryError):
    """The query is empty."""

    code = "PGS-0202"


class MultipleStatements(QueryError):
    """The query holds more than one statement."""

    code = "PGS-0203"


class NotASelect(QueryError):
    """The statement is not a SELECT."""

    code = "PGS-0204"


class UnknownName(QueryError):
    """No such table, column or function."""

    code = "PGS-0205"


class TypeMismatch(QueryError):
    """The types of an expression do not fit."""

    code = "PGS-0206"


class UnsupportedConstruct(QueryError):
    """A clause or an operator that pgstream does not maintain."""

    code = "PGS-0207"


class UnsupportedExpression(QueryError):
    """An expression that pgstream cannot compute as PostgreSQL does."""

    code = "PGS-0208"


class UnsupportedType(QueryError):
    """A column type that pgstream cannot carry."""

    code = "PGS-0209"


class VolatileFunction(QueryError):
    """A function whose value changes though its input does not."""

    code = "PGS-0210"
