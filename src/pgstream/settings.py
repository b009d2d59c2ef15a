"""Every setting, as data: name, type, default, what is allowed, and one sentence.

A value comes from the first of these that has one:

1. the environment, as `PGSTREAM_<NAME>`;
2. the server, as `pg_stream.<name>` (the caller reads it and passes it in);
3. the default.

Of a setting that all processes must share, the server's value goes before the environment's: what
one of them does to the sources, another would undo. An empty value counts as none. A value of the
wrong type or out of range is refused.
"""

import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, get_type_hints
from zoneinfo import ZoneInfo

from pgstream.errors import SettingError

SERVER_PREFIX = "pg_stream."
ENVIRONMENT_PREFIX = "PGSTREAM_"

Value = bool | int | float | str

_BOOLEANS = {
    **dict.fromkeys(("on", "true", "1", "yes"), True),
    **dict.fromkeys(("off", "false", "0", "no"), False),
}


@dataclass(frozen=True, slots=True)
class Setting:
    """The declaration of one setting."""

    name: str
    type: type[Value]
    default: Value
    sentence: str
    low: float | None = None
    high: float | None = None
    form: str | None = None
    words: str = "text"
    is_known: Callable[[str], object] | None = None
    is_shared: bool = False
    """Whether it changes the sources, for all who refresh."""

    @property
    def server_name(self) -> str:
        return SERVER_PREFIX + self.name

    @property
    def environment_name(self) -> str:
        return ENVIRONMENT_PREFIX + self.name.upper()

    @property
    def allowed(self) -> str:
        """What a value may be, in words."""
        if self.type is bool:
            return "on or off"
        if self.type is str:
            return self.words
        kind = "a whole number" if self.type is int else "a number"
        return f"{kind} from {self.low} to {self.high}"

    def parse(self, text: str, source: str) -> Value:
        """The value that `text` stands for; `source` says where it is from."""
        try:
            value = self._convert(text.strip())
        except (KeyError, ValueError):
            raise self.refusal(text, source) from None
        return self.check(value, source)

    def check(self, value: Value, source: str) -> Value:
        """The value itself, if its type and range are right."""
        right_type = type(value) is self.type or (self.type is float and type(value) is int)
        if not right_type or not self._in_range(value):
            raise self.refusal(value, source)
        return value

    def refusal(self, value: Value, source: str) -> SettingError:
        return SettingError(
            f"Setting {self.name} cannot be {value!r}, from {source}",
            detail=f"It must be {self.allowed}.",
            hint=f"Set {self.environment_name} or {self.server_name}; "
            f"the default is {self.show(self.default)}.",
        )

    def _convert(self, text: str) -> Value:
        if self.type is bool:
            return _BOOLEANS[text.lower()]
        if self.type is int:
            return int(text)
        return float(text) if self.type is float else text

    def _in_range(self, value: Value) -> bool:
        if isinstance(value, str):
            has_form = self.form is None or re.fullmatch(self.form, value) is not None
            return has_form and (self.is_known is None or bool(self.is_known(value)))
        if self.low is None or self.high is None:
            return True
        return not math.isnan(value) and self.low <= value <= self.high

    def show(self, value: Value) -> str:
        if isinstance(value, bool):
            return "on" if value else "off"
        return repr(value) if isinstance(value, str) else str(value)


def is_time_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (LookupError, ValueError, OSError):  # unknown, no name at all, a folder of zones
        return False
    return True


def _setting(
    default: Any, sentence: str, low: float | None = None, high: float | None = None, **more: Any
) -> Any:
    declaration = {"default": default, "sentence": sentence, "low": low, "high": high, **more}
    return field(default=default, metadata=declaration)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The values in force. Checked when built, like those that are loaded."""

    enabled: bool = _setting(True, "Whether the scheduler refreshes stream tables.")
    scheduler_interval_ms: int = _setting(
        1000, "How often the scheduler looks for stream tables to refresh.", 100, 60_000
    )
    min_schedule_seconds: int = _setting(
        60, "The shortest duration that a schedule may have.", 1, 86_400
    )
    max_consecutive_errors: int = _setting(
        3, "How many failures in a row move a stream table to ERROR.", 1, 100
    )
    max_concurrent_refreshes: int = _setting(
        4, "How many refreshes a worker runs at the same time.", 1, 32
    )
    cron_timezone: str = _setting(
        "UTC",
        "The time zone of cron schedules.",
        words="a time zone such as UTC or Europe/Berlin",
        is_known=is_time_zone,
    )
    on_change_debounce_ms: int = _setting(
        0, "How long a refresh `on change` waits for further changes.", 0, 60_000
    )
    on_change_max_per_second: float = _setting(
        10.0, "How often per second a table is refreshed `on change` at most.", 0.01, 1000.0
    )
    refresh_timeout: int = _setting(
        0, "After how many seconds a worker cancels a refresh; 0 never.", 0, 604_800
    )
    shutdown_timeout: int = _setting(
        30, "How many seconds a worker that ends leaves to the refreshes under way.", 0, 3600
    )
    worker_port: int = _setting(
        0,
        "The port on localhost where a worker answers /healthz and /readyz; 0 is none.",
        0,
        65_535,
    )
    differential_max_change_ratio: float = _setting(
        0.5,
        "The share of changed rows above which a refresh is full; 0 never, 1 always.",
        0.0,
        1.0,
    )
    spark_master: str = _setting("local[*]", "The Spark master that computes.")
    spark_remote: str = _setting("", "A Spark Connect address; it replaces the master.")
    spark_driver_memory: str = _setting(
        "auto",
        "The memory of the Java process that pgstream starts.",
        form="auto|[1-9][0-9]*[mg]",
        words="auto, or a size such as 1500m or 2g",
    )
    small_path_rows: int = _setting(
        50_000,
        "Up to how many rows a relation travels through the driver; above, executors read it.",
        0,
        10_000_000,
    )
    small_path_bytes: int = _setting(
        128 * 1024 * 1024,
        "How much of all relations a refresh holds in the driver; beyond it, executors read.",
        0,
        1_099_511_627_776,
    )
    read_slices: int = _setting(
        0, "In how many parallel slices Spark reads a table; 0 is the number of cores.", 0, 1024
    )
    nested_state: bool = _setting(
        True,
        "Whether aggregates and DISTINCT below other operators are stored in hidden tables.",
    )
    cdc_mode: str = _setting(
        "trigger",
        "How changes are captured: by triggers, or from the WAL.",
        form="trigger|auto|wal",
        words="trigger, auto or wal",
        is_shared=True,
    )
    wal_transition_timeout: int = _setting(
        300, "After how many seconds a transition from triggers to the WAL has failed.", 10, 3600
    )
    capture_errors: str = _setting(
        "fail",
        "Whether a write fails if its change cannot be captured, or the source is marked.",
        form="fail|mark",
        words="fail or mark",
        is_shared=True,
    )
    change_buffer_schema: str = _setting(
        "pgstream_changes",
        "The schema where change buffers are created, as of the last `pgstream init`.",
        form="(?!pg_)[a-z_][a-z0-9_]{0,62}",
        words="a name of small letters, digits and _, not pg_…",
        is_shared=True,
    )
    block_source_ddl: bool = _setting(
        False, "Whether DDL that changes what a stream table reads is refused."
    )
    max_recursion: int = _setting(
        1000, "After how many rounds a recursive CTE counts as endless.", 1, 1_000_000
    )

    user_triggers: str = _setting(
        "auto",
        "How triggers that users put on stream tables are treated.",
        form="auto|on|off",
        words="auto, on or off",
    )

    buffer_warning_rows: int = _setting(
        1_000_000, "Above how many waiting changes of a source operators are warned.", 1, 10**12
    )
    slot_lag_warning_mb: int = _setting(
        100, "Above which lag of a replication slot operators are warned.", 1, 10**9
    )

    buffer_compact_rows: int = _setting(
        100_000,
        "From how many waiting changes on those that cancel out are deleted; 0 never.",
        0,
        10**12,
    )
    buffer_limit: int = _setting(
        0,
        "How many changes of a source may wait; at more, all are dropped and its readers are"
        " refreshed in full; 0 keeps them.",
        0,
        10**12,
    )
    history_days: int = _setting(
        90, "After how many days refreshes are deleted from the history; 0 never.", 0, 36_500
    )

    def __post_init__(self) -> None:
        for setting in DECLARED:
            setting.check(getattr(self, setting.name), "the program")

    @classmethod
    def load(
        cls,
        server: Mapping[str, str | None] | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> "Settings":
        """Settings from the environment, then the server, then the defaults.

        `server` maps setting names, with or without `pg_stream.`, to what
        `current_setting(…, true)` gives. `environ` is the process's own if not given.
        """
        values: dict[str, Any] = {
            each.setting.name: each.value for each in look_up(server, environ)
        }
        return cls(**values)


@dataclass(frozen=True, slots=True)
class Found:
    """A value, and where it is from: environment, server or default."""

    setting: Setting
    value: Value
    source: str


def look_up(
    server: Mapping[str, str | None] | None = None, environ: Mapping[str, str] | None = None
) -> tuple[Found, ...]:
    """Every setting as `Settings.load` finds it."""
    environ = os.environ if environ is None else environ
    server = {name.removeprefix(SERVER_PREFIX): text for name, text in (server or {}).items()}
    return tuple(_find(each, server, environ) for each in DECLARED)


def _find(setting: Setting, server: Mapping[str, str | None], environ: Mapping[str, str]) -> Found:
    environment, on_server = setting.environment_name, setting.server_name
    places = (
        (environ.get(environment), "environment", environment),
        (server.get(setting.name), "server", on_server),
    )
    for text, source, name in reversed(places) if setting.is_shared else places:
        if text:
            return Found(setting, setting.parse(text, f"the {source} ({name})"), source)
    return Found(setting, setting.default, "default")


def _declared() -> tuple[Setting, ...]:
    types = get_type_hints(Settings)
    return tuple(
        Setting(name=each.name, type=types[each.name], **each.metadata) for each in fields(Settings)
    )


DECLARED: tuple[Setting, ...] = _declared()
"""All settings, in the order they are declared."""

WITHOUT_EFFECT = {
    "cleanup_use_truncate": "Buffers are cleaned by DELETE: TRUNCATE would stop the writers.",
    "merge_planner_hints": "There is no MERGE: a delta is applied by its row ids.",
    "merge_strategy": "There is no MERGE: a delta is applied by its row ids.",
    "merge_work_mem_mb": "There is no MERGE; set work_mem for the role of the worker.",
    "use_prepared_statements": "Spark computes; statements in PostgreSQL are planned each time.",
}
"""Settings of the specification that may be set and change nothing, and why."""
