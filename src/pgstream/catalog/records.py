"""What the catalog tables hold, as frozen records."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class Action(StrEnum):
    NO_DATA = "NO_DATA"
    FULL = "FULL"
    DIFFERENTIAL = "DIFFERENTIAL"
    REINITIALIZE = "REINITIALIZE"
    SKIP = "SKIP"


class Status(StrEnum):
    INITIALIZING = "INITIALIZING"
    ACTIVE = "ACTIVE"
    SUSPENDED = "SUSPENDED"
    ERROR = "ERROR"


class Mode(StrEnum):
    FULL = "FULL"
    DIFFERENTIAL = "DIFFERENTIAL"
    AUTO = "AUTO"


class Initiator(StrEnum):
    SCHEDULER = "SCHEDULER"
    MANUAL = "MANUAL"
    INITIAL = "INITIAL"


class Numerics(StrEnum):
    """Who computes on numerics. The frontier has it: what is stored depends on it."""

    ON_SPARK = "SPARK"
    BY_POSTGRES = "POSTGRES"


@dataclass(frozen=True, slots=True)
class Dependency:
    relid: int
    schema: str
    name: str
    is_stream: bool
    columns: frozenset[str]


@dataclass(frozen=True, slots=True)
class View:
    """A view that the query reads, directly or not, and its query when that was checked."""

    schema: str
    name: str
    definition: str


@dataclass(frozen=True, slots=True)
class StreamTable:
    id: int
    relid: int
    schema: str
    name: str
    defining_query: str
    original_query: str
    schedule: str | None
    refresh_mode: Mode
    status: Status
    is_populated: bool
    needs_reinit: bool
    frontier: dict[str, Any] | None
    consecutive_errors: int
    data_timestamp: datetime | None
    last_refresh_at: datetime | None
    last_error: str | None
    updated_at: datetime
    columns: tuple[str, ...]
    dependencies: tuple[Dependency, ...] = field(default=())
    views: tuple[View, ...] = field(default=())
    reinit_reason: str | None = None

    @property
    def full_name(self) -> str:
        return f"{self.schema}.{self.name}"

    @property
    def numerics(self) -> Numerics:
        return Numerics((self.frontier or {}).get("numerics", Numerics.ON_SPARK))

    def frontier_of(self, relid: int) -> str | None:
        """The snapshot up to which the source's changes are in the table."""
        sources = (self.frontier or {}).get("sources", {})
        entry = sources.get(str(relid))
        return entry["snapshot"] if entry else None


@dataclass(frozen=True, slots=True)
class RefreshResult:
    """What one refresh of one stream table did."""

    name: str
    action: Action
    reason: str
    changes_read: int = 0
    rows_read: int = 0
    rows_inserted: int = 0
    rows_deleted: int = 0
    spark_actions: int = 0
    compute_ms: float = 0.0
    apply_ms: float = 0.0
    analysis_ms: float = 0.0
    """How long Spark took to analyse its statements: a part of `compute_ms`."""
    planning_ms: float = 0.0
    """How long it took to plan them, where that can be told; else it is in `running_ms`."""
    running_ms: float = 0.0
    """How long it took to run them."""
    total_ms: float = 0.0
    expected_rows: int | None = None
    """How many rows it was expected to read; None if nobody asked."""
    expected_ms: float | None = None
    """How long computing was expected to take, before the table's history corrected it."""
    stages: tuple[str, ...] = ()
    """The names of the stages that ran, as explain shows them."""
    upstream: tuple[RefreshResult, ...] = ()

    @property
    def work(self) -> dict[str, Any]:
        """All but the times: the same in every run."""
        return {
            "name": self.name,
            "action": self.action.value,
            "reason": self.reason,
            "changes_read": self.changes_read,
            "rows_read": self.rows_read,
            "rows_inserted": self.rows_inserted,
            "rows_deleted": self.rows_deleted,
            "spark_actions": self.spark_actions,
        }
