"""The errors of PostgreSQL, and those of our SQL functions, as errors of pgstream.

Our SQL functions have SQLSTATEs of their own. Those of PostgreSQL (syntax, unknown names, types,
rights) pass unchanged, with their position.

    PS001  bad name                   PS012  the stream table is suspended
    PS002  the name is taken          PS013  no worker is alive
    PS003  bad schedule               PS014  timeout of a wait
    PS004  bad refresh mode           PS015  a source that cannot be read
    PS005  empty query                PS016  the refresh failed
    PS006  several statements         PS017  bad status
    PS007  not a SELECT               PS018  bad column
    PS008  cycle                      PS019  direct change of a stream table
    PS009  permission denied          PS020  the transaction cannot wait for a worker
    PS010  others read it             PS021  a function is volatile
    PS011  no such stream table       PS022  the stream table was never populated
                                      PS023  DDL that is refused
                                      PS031  a trigger could change its rows
                                      PS032  no configuration that was dumped
"""

import re

import psycopg

from pgstream.errors import (
    BadMode,
    BadName,
    BadSchedule,
    BadStatus,
    ConnectionFailed,
    CycleError,
    DependentsExist,
    DuplicateName,
    EmptyQuery,
    MultipleStatements,
    NotASelect,
    NotPopulated,
    NoWorker,
    PermissionDenied,
    PgStreamError,
    QueryError,
    RefreshError,
    ServerShort,
    StreamTableError,
    StreamTableNotFound,
    Suspended,
    SyntaxFault,
    TriggerError,
    TypeMismatch,
    UnknownName,
    UnsupportedConstruct,
    VolatileFunction,
    WaitTimeout,
)

ERRORS: dict[str, type[PgStreamError]] = {
    "PS001": BadName,
    "PS002": DuplicateName,
    "PS003": BadSchedule,
    "PS004": BadMode,
    "PS005": EmptyQuery,
    "PS006": MultipleStatements,
    "PS007": NotASelect,
    "PS008": CycleError,
    "PS009": PermissionDenied,
    "PS010": DependentsExist,
    "PS011": StreamTableNotFound,
    "PS012": Suspended,
    "PS013": NoWorker,
    "PS014": WaitTimeout,
    "PS015": UnsupportedConstruct,
    "PS016": RefreshError,
    "PS017": BadStatus,
    "PS018": QueryError,
    "PS019": StreamTableError,
    "PS020": RefreshError,
    "PS021": VolatileFunction,
    "PS022": NotPopulated,
    "PS023": DependentsExist,
    "PS031": TriggerError,
    "PS032": StreamTableError,
    "0A000": UnsupportedConstruct,  # feature_not_supported
    "22P02": TypeMismatch,  # invalid_text_representation
    "3F000": UnknownName,  # invalid_schema_name
    "42501": PermissionDenied,  # insufficient_privilege
    "42601": SyntaxFault,  # syntax_error
    "42702": QueryError,  # ambiguous_column
    "42703": UnknownName,  # undefined_column
    "42704": UnknownName,  # undefined_object
    "42725": TypeMismatch,  # ambiguous_function
    "42803": QueryError,  # grouping_error
    "42804": TypeMismatch,  # datatype_mismatch
    "42809": QueryError,  # wrong_object_type
    "42846": TypeMismatch,  # cannot_coerce
    "42883": UnknownName,  # undefined_function
    "42P01": UnknownName,  # undefined_table
    "42P08": TypeMismatch,  # ambiguous_parameter
    "42P18": TypeMismatch,  # indeterminate_datatype
    "42P20": QueryError,  # windowing_error
    "42P21": TypeMismatch,  # collation_mismatch
    "42P22": TypeMismatch,  # indeterminate_collation
}


# A deadlock and the like; room, memory, connections; a lock that is waited for in vain; the disk.
SHORT = ("40", "53", "55P03", "58030")
UNDEFINED = ("3F000", "42704", "42883", "42P01")  # a schema, type, function or table
# As pgstream._refuse words it: PL/pgSQL cannot give an error a position.
REFUSED = re.compile(
    r"((.+) is not supported in a stream table's query)(?: \(line (\d+), column (\d+)\))?\."
)
IN_FUNCTION = re.compile(r'(?:PL/\w+ function (\S+\([^)]*\))|SQL function "([^"]+)")')
CALLED = re.compile(r'PL/\w+ function (?:"([^"]+)"|(\S+\([^)]*\)))')


def translate(error: psycopg.Error, query: str | None = None) -> PgStreamError:
    """The pgstream error for `error`. `query` is the text its statement position counts in."""
    diag = error.diag
    message = diag.message_primary or str(error).strip() or type(error).__name__
    detail, hint = diag.message_detail, diag.message_hint
    kind = _kind(error)
    function = user_function(diag.context or "") if error.sqlstate in UNDEFINED else None
    if function:
        detail, hint = f"The function {function} looks for it.", path_hint(function)
    if issubclass(kind, QueryError):
        refused = REFUSED.fullmatch(message)
        if refused:
            return _refusal(kind, refused, detail, hint)
        line, column = (None, None) if function else _position(diag, query)
        return kind(message, detail=detail, hint=hint, line=line, column=column)
    if issubclass(kind, CycleError):
        return kind(message, path=_path(message), detail=detail, hint=hint)
    if issubclass(kind, DependentsExist):
        # _require_no_dependents puts the list in the detail, and in the sentence.
        return kind(message, dependents=(detail or "").split(", "), hint=hint)
    return kind(message, detail=detail, hint=hint)


def user_function(context: str) -> str | None:
    """The user's function that failed inside our statement, from PostgreSQL's
    CONTEXT, whose first line is the innermost."""
    found = IN_FUNCTION.search(context)
    if found is None or "pgstream." in context:  # ours, or under the caller's own search path
        return None
    return found[1] or found[2]


def outermost_function(context: str) -> str | None:
    """The function that our statement called, from PostgreSQL's CONTEXT, whose last line is the
    outermost. Some languages give the name alone."""
    found = CALLED.findall(context)
    return (found[-1][0] or found[-1][1]) if found else None


def path_hint(function: str) -> str:
    return (
        "pgstream runs a query with search_path = pg_catalog, pg_temp, as PostgreSQL does for "
        f"materialized views. Give the function a path: ALTER FUNCTION {function} "
        "SET search_path = public."
    )


def _kind(error: psycopg.Error) -> type[PgStreamError]:
    state = error.sqlstate or ""
    lost = not state and isinstance(error, psycopg.OperationalError)
    if lost or state.startswith(("08", "57P0")):  # the connection broke, or the server stops
        return ConnectionFailed
    if state.startswith(SHORT):
        return ServerShort
    return ERRORS.get(state, PgStreamError)


def _refusal(
    kind: type[QueryError], refused: re.Match[str], detail: str | None, hint: str | None
) -> QueryError:
    line, column = (int(n) if n else None for n in refused.group(3, 4))
    sentence, construct = f"{refused[1]}.", refused[2]
    return kind(sentence, detail=detail, hint=hint, line=line, column=column, construct=construct)


def _position(diag: psycopg.errors.Diagnostic, query: str | None) -> tuple[int | None, int | None]:
    """Line and column, from 1. A query inside a function has a position and a text of its own."""
    if diag.internal_position and diag.internal_query:
        return _line_and_column(diag.internal_query, int(diag.internal_position))
    if diag.statement_position and query is not None:
        return _line_and_column(query, int(diag.statement_position))
    return None, None


def _line_and_column(text: str, position: int) -> tuple[int, int]:
    before = text[: position - 1]
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def _path(message: str) -> list[str]:
    way = re.search(r": (.+ -> .+)$", message)
    return way[1].split(" -> ") if way else []
