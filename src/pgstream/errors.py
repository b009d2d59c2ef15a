"""Every error pgstream raises.

PgStreamError
├── SettingError                 a setting has a wrong type or is out of range
├── ConnectionFailed             PostgreSQL does not answer (transient)
├── NotInstalled                 the database has no pgstream schema
├── VersionMismatch              the database was set up by another version
├── EmbeddedServerFailed         the embedded server does not start or stop
├── InternalError                a fault of pgstream's own
├── ProgramMissing               a program that a command calls is not installed
├── RepairNeeded                 the database was restored, or its server upgraded
├── QueryError                   the defining query cannot be a stream table
│   ├── SyntaxFault              it does not parse
│   ├── EmptyQuery               there is nothing to parse
│   ├── MultipleStatements       there is more than one statement
│   ├── NotASelect               it is not a SELECT
│   ├── UnknownName              no such table, column or function
│   ├── TypeMismatch             the types of an expression do not fit
│   ├── UnsupportedConstruct     a clause or an operator we do not maintain
│   ├── UnsupportedExpression    an expression we cannot compute as PostgreSQL does
│   ├── UnsupportedType          a column type we cannot carry
│   └── VolatileFunction         a function whose value changes by itself
├── StreamTableError             a stream table's name, options or state
│   ├── DuplicateName            the name is taken
│   ├── BadName                  the name is not a name
│   ├── StreamTableNotFound      there is no such stream table
│   ├── BadSchedule              neither a duration nor a cron expression
│   ├── BadMode                  not a refresh mode
│   ├── BadStatus                not a status, or not one to set
│   ├── PermissionDenied         the role lacks a right
│   ├── CycleError               it would depend on itself
│   ├── DependentsExist          others read it
│   ├── Suspended                it is suspended
│   └── NotPopulated             it holds no result yet
└── RefreshError                 a refresh or its request fails
    ├── RefreshConflict          another refresh moved the frontier (transient)
    ├── ComputeError             Spark failed
    ├── NumericRange             a value exceeds what Spark holds
    ├── IntegrityError           rows the delta removes are not in the stream table
    ├── SourceChanged            DDL changed a source
    ├── NoWorker                 no worker is alive
    ├── WaitTimeout              the wait is over, the work is not
    ├── RecursionLimit           a recursive CTE does not end
    ├── SparkLost                Spark, its cluster or its session is gone (transient)
    ├── TriggerError             a trigger on a stream table fails, or must not run
    ├── WalUnavailable           a source must be captured from the WAL and cannot
    ├── CaptureLost              changes in the WAL are lost; triggers take over (transient)
    └── DecodingError            a message of the replication slot is not understood

A code never changes and is never used twice. A transient error may pass when the same
call is made again; a permanent one needs somebody to change something.
"""

from collections.abc import Sequence
from typing import ClassVar


class PgStreamError(Exception):
    """The base of all: a sentence, and where they help a detail and a hint."""

    code: ClassVar[str] = "PGS-0000"
    transient: ClassVar[bool] = False

    # All but the message have defaults: pickle rebuilds an error from its message alone and
    # then restores the fields. Errors cross processes between Spark's executors and its driver.
    def __init__(self, message: str, *, detail: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail
        self.hint = hint

    @property
    def sentence(self) -> str:
        """The message, with its position in the query if it has one."""
        return self.message

    def __str__(self) -> str:
        parts = (self.sentence, self.detail, self.hint and f"Hint: {self.hint}")
        return "\n".join(part for part in parts if part)


# --- set-up -------------------------------------------------------------------------------------


class SettingError(PgStreamError):
    """A setting has a wrong type or is out of range."""

    code = "PGS-0101"


class ConnectionFailed(PgStreamError):
    """PostgreSQL does not answer."""

    code = "PGS-0102"
    transient = True


class NotInstalled(PgStreamError):
    """The database has no pgstream schema."""

    code = "PGS-0103"


class VersionMismatch(PgStreamError):
    """The database was set up by another version of pgstream."""

    code = "PGS-0104"


class EmbeddedServerFailed(PgStreamError):
    """The embedded server does not start or stop."""

    code = "PGS-0105"


class InternalError(PgStreamError):
    """A fault of pgstream's own, or of a library, that it did not foresee."""

    code = "PGS-0106"


class ProgramMissing(PgStreamError):
    """A program that a command calls is not installed."""

    code = "PGS-0107"


class RepairNeeded(PgStreamError):
    """The catalog is that of another server: of one that was dumped, or upgraded."""

    code = "PGS-0108"


# --- queries ------------------------------------------------------------------------------------


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


# --- stream tables ------------------------------------------------------------------------------


class StreamTableError(PgStreamError):
    """Something about a stream table's name, options or state."""

    code = "PGS-0300"


class DuplicateName(StreamTableError):
    """The name is taken."""

    code = "PGS-0301"


class BadName(StreamTableError):
    """The name is not a name."""

    code = "PGS-0302"


class StreamTableNotFound(StreamTableError):
    """There is no such stream table."""

    code = "PGS-0303"


class BadSchedule(StreamTableError):
    """The schedule is neither a duration nor a cron expression, or is too short."""

    code = "PGS-0304"


class BadMode(StreamTableError):
    """Not a refresh mode."""

    code = "PGS-0305"


class BadStatus(StreamTableError):
    """Not a status, or not one to set."""

    code = "PGS-0306"


class PermissionDenied(StreamTableError):
    """The role lacks a right."""

    code = "PGS-0307"


class CycleError(StreamTableError):
    """The stream table would depend on itself; `path` is the way round."""

    code = "PGS-0308"

    def __init__(
        self,
        message: str,
        *,
        path: Sequence[str] = (),
        detail: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, detail=detail, hint=hint)
        self.path = tuple(path)


class DependentsExist(StreamTableError):
    """Others read the stream table; `dependents` names them."""

    code = "PGS-0309"

    def __init__(
        self,
        message: str,
        *,
        dependents: Sequence[str] = (),
        detail: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, detail=detail, hint=hint)
        self.dependents = tuple(dependents)


class Suspended(StreamTableError):
    """The stream table is suspended."""

    code = "PGS-0310"


class NotPopulated(StreamTableError):
    """The stream table holds no result yet."""

    code = "PGS-0311"


# --- refresh ------------------------------------------------------------------------------------


class RefreshError(PgStreamError):
    """A refresh, or the request for one, fails."""

    code = "PGS-0400"


class RefreshConflict(RefreshError):
    """Another refresh moved the frontier."""

    code = "PGS-0401"
    transient = True


class ComputeError(RefreshError):
    """Spark failed; `cause` is the short reason."""

    code = "PGS-0402"

    def __init__(
        self,
        message: str,
        *,
        cause: str = "",
        detail: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, detail=detail, hint=hint)
        self.cause = cause


class NumericRange(RefreshError):
    """A value exceeds what Spark holds."""

    code = "PGS-0403"


class IntegrityError(RefreshError):
    """The stream table does not hold the rows that the delta removes."""

    code = "PGS-0404"


class SourceChanged(RefreshError):
    """DDL changed a source, so that the stream table with this id cannot be computed."""

    code = "PGS-0405"

    def __init__(
        self,
        message: str,
        *,
        detail: str | None = None,
        hint: str | None = None,
        table_id: int | None = None,
    ) -> None:
        super().__init__(message, detail=detail, hint=hint)
        self.table_id = table_id


class NoWorker(RefreshError):
    """No worker is alive to do the work."""

    code = "PGS-0406"


class WaitTimeout(RefreshError):
    """The wait is over and the work is not done."""

    code = "PGS-0407"


class RecursionLimit(RefreshError):
    """A recursive CTE does not end within the rounds that the setting allows."""

    code = "PGS-0408"


class SparkLost(RefreshError):
    """Spark, its cluster or its session is gone; the next refresh opens a new one."""

    code = "PGS-0409"
    transient = True


class TriggerError(RefreshError):
    """A trigger that somebody put on a stream table fails, or could change its rows."""

    code = "PGS-0415"


class WalUnavailable(RefreshError):
    """The setting demands capture from the WAL, and something is in the way."""

    code = "PGS-0420"


class CaptureLost(RefreshError):
    """Changes in the WAL cannot be read any more; triggers capture again, and the next refresh
    reads whole tables."""

    code = "PGS-0421"
    transient = True


class DecodingError(RefreshError):
    """A message of the replication slot is not understood."""

    code = "PGS-0422"
