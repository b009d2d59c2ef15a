"""Errors of a refresh, or of the request for one."""

from pgstream.errors.base import PgStreamError


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


class RefreshTimeout(RefreshError):
    """A refresh was cancelled, because it took longer than it may."""

    code = "PGS-0410"
    transient = True


class ServerShort(RefreshError):
    """PostgreSQL lacks something that it may have again: room, memory, connections, a lock."""

    code = "PGS-0411"
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
