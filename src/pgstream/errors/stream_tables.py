"""Errors about a stream table's name, options or state."""

from collections.abc import Sequence

from pgstream.errors.base import PgStreamError


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
