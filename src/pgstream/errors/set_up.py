"""Errors of the set-up: settings, connections, what is installed."""

from pgstream.errors.base import PgStreamError


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
