"""PgStreamError: the base of all errors."""

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
        self.table_id: int | None = None
        """The stream table at which a refresh went wrong."""

    @property
    def sentence(self) -> str:
        """The message, with its position in the query if it has one."""
        return self.message

    def __str__(self) -> str:
        parts = (self.sentence, self.detail, self.hint and f"Hint: {self.hint}")
        return "\n".join(part for part in parts if part)
