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
    ├── RefreshTimeout           a refresh took too long and was cancelled (transient)
    ├── ServerShort              PostgreSQL lacks room, memory or a lock (transient)
    ├── TriggerError             a trigger on a stream table fails, or must not run
    ├── WalUnavailable           a source must be captured from the WAL and cannot
    ├── CaptureLost              changes in the WAL are lost; triggers take over (transient)
    └── DecodingError            a message of the replication slot is not understood

A code never changes and is never used twice. A transient error may pass when the same
call is made again; a permanent one needs somebody to change something.
"""

from pgstream.errors.base import PgStreamError
from pgstream.errors.queries import (
    EmptyQuery,
    MultipleStatements,
    NotASelect,
    QueryError,
    SyntaxFault,
    TypeMismatch,
    UnknownName,
    UnsupportedConstruct,
    UnsupportedExpression,
    UnsupportedType,
    VolatileFunction,
)
from pgstream.errors.refresh import (
    CaptureLost,
    ComputeError,
    DecodingError,
    IntegrityError,
    NoWorker,
    NumericRange,
    RecursionLimit,
    RefreshConflict,
    RefreshError,
    RefreshTimeout,
    ServerShort,
    SourceChanged,
    SparkLost,
    TriggerError,
    WaitTimeout,
    WalUnavailable,
)
from pgstream.errors.set_up import (
    ConnectionFailed,
    EmbeddedServerFailed,
    InternalError,
    NotInstalled,
    ProgramMissing,
    RepairNeeded,
    SettingError,
    VersionMismatch,
)
from pgstream.errors.stream_tables import (
    BadMode,
    BadName,
    BadSchedule,
    BadStatus,
    CycleError,
    DependentsExist,
    DuplicateName,
    NotPopulated,
    PermissionDenied,
    StreamTableError,
    StreamTableNotFound,
    Suspended,
)

__all__ = [
    "BadMode",
    "BadName",
    "BadSchedule",
    "BadStatus",
    "CaptureLost",
    "ComputeError",
    "ConnectionFailed",
    "CycleError",
    "DecodingError",
    "DependentsExist",
    "DuplicateName",
    "EmbeddedServerFailed",
    "EmptyQuery",
    "IntegrityError",
    "InternalError",
    "MultipleStatements",
    "NoWorker",
    "NotASelect",
    "NotInstalled",
    "NotPopulated",
    "NumericRange",
    "PermissionDenied",
    "PgStreamError",
    "ProgramMissing",
    "QueryError",
    "RecursionLimit",
    "RefreshConflict",
    "RefreshError",
    "RefreshTimeout",
    "RepairNeeded",
    "ServerShort",
    "SettingError",
    "SourceChanged",
    "SparkLost",
    "StreamTableError",
    "StreamTableNotFound",
    "Suspended",
    "SyntaxFault",
    "TriggerError",
    "TypeMismatch",
    "UnknownName",
    "UnsupportedConstruct",
    "UnsupportedExpression",
    "UnsupportedType",
    "VersionMismatch",
    "VolatileFunction",
    "WaitTimeout",
    "WalUnavailable",
]
