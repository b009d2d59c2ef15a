"""The Python face: one object per database, the same verbs as in SQL, synchronous."""

from __future__ import annotations

import contextlib
import os
import re
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from types import TracebackType
from typing import Any

from pgstream.capture.buffers import open_buffers
from pgstream.catalog import store
from pgstream.catalog.records import Action, Initiator, Mode, RefreshResult, StreamTable
from pgstream.catalog.repair import Repaired, repair
from pgstream.compile.passes import check_text
from pgstream.compile.prepare import prepare
from pgstream.database import migrate
from pgstream.database.connection import (
    Connection,
    connect_as_user,
    own_path,
    server_settings,
)
from pgstream.database.connection import connect as open_connection
from pgstream.database.embedded import EmbeddedServer
from pgstream.engine.spark.session import Sessions
from pgstream.errors import PgStreamError, RefreshConflict, VolatileFunction
from pgstream.monitor.health import Finding, find_faults
from pgstream.monitor.hear import heard, listen
from pgstream.monitor.settings import setting_rows
from pgstream.monitor.verify import Verification, compare
from pgstream.refresh.changes import find_changes
from pgstream.refresh.explain import explain
from pgstream.refresh.known import known_errors
from pgstream.refresh.refresher import Refresher
from pgstream.settings import DECLARED, WITHOUT_EFFECT, Settings
from pgstream.sql.positions import position_of_word


class PgStreamWarning(UserWarning):
    """PostgreSQL's warning about a query, such as a function that is only STABLE."""


class PgStream:
    """A database with stream tables. Use it as a context manager, from one thread.

    `spark` is a session of yours; `sessions` are those that several of these share, and that
    whoever made them ends.
    """

    @known_errors()
    def __init__(
        self,
        dsn: str,
        spark: Any = None,
        server: EmbeddedServer | None = None,
        settings: Settings | None = None,
        sessions: Sessions | None = None,
    ) -> None:
        self.dsn = dsn
        self.server = server
        with contextlib.ExitStack() as opened:
            # For what users write. What we write goes through `own`.
            self.connection: Connection = opened.enter_context(closing(connect_as_user(dsn)))
            self.own: Connection = opened.enter_context(closing(open_connection(dsn)))
            for each in (self.connection, self.own):
                each.add_notice_handler(_warn)
            self._listener: Connection | None = None
            self._given = settings
            self.settings = settings or self._load_settings()
            self._ends_sessions = sessions is None
            self.sessions = sessions or Sessions(self.settings, spark)
            self.refresher = Refresher(dsn, self.sessions, self.settings)
            opened.pop_all()

    def __enter__(self) -> PgStream:
        return self

    @known_errors()
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @known_errors()
    def close(self) -> None:
        """Ends all that was opened, whatever happens to a part of it."""
        with contextlib.ExitStack() as last_first:
            if self.server is not None:
                last_first.callback(self.server.stop)
            if self._ends_sessions:
                last_first.callback(self.sessions.stop)
            if self._listener is not None:
                last_first.callback(self._listener.close)
            last_first.callback(self.own.close)
            last_first.callback(self.connection.close)
            last_first.callback(self.refresher.close)

    # --- verbs ------------------------------------------------------------------------------

    @known_errors()
    def install(self) -> list[str]:
        """Installs or upgrades pgstream's schemas; the names of what ran."""
        return migrate.install(self.own, self.settings.change_buffer_schema)

    @known_errors()
    def execute(self, statement: str, parameters: Sequence[Any] | None = None) -> list[Any]:
        """Runs SQL in a transaction of its own; the rows, if it has any."""
        with _located(statement):
            cursor = self.connection.execute(statement.encode(), parameters)
            return cursor.fetchall() if cursor.description is not None else []

    @known_errors()
    def create_stream_table(
        self,
        name: str,
        query: str,
        schedule: str | None = "1m",
        refresh_mode: str = "DIFFERENTIAL",
        initialize: bool = True,
    ) -> RefreshResult | None:
        """Creates a stream table and, unless told otherwise, fills it."""
        check_text(query)
        with _located(query):
            migrate.require(self.own)
        with _located(query), self.connection.transaction():
            self._set_shortest_schedule()
            self.connection.execute(
                "SELECT pgstream.create_stream_table(%s, %s, %s, %s, %s)",
                (name, query, schedule, refresh_mode, initialize),
            )
            own_path(self.connection)  # the names in the query have got their meaning
            table = store.stream_table(self.connection, name)
            prepared = self.refresher.preparations.first(
                self.connection, table, self.settings.nested_state
            )
            store.save_query(self.connection, table.id, prepared.table.defining_query)
            store.save_explanation(
                self.connection, table.id, explain(prepared.plan, self.connection)
            )
        if not initialize:
            return None
        try:
            return self._refresh(table, Initiator.INITIAL)
        except BaseException:
            with contextlib.suppress(PgStreamError):
                self.drop_stream_table(name)
            raise

    @known_errors()
    def alter_stream_table(
        self,
        name: str,
        schedule: str | None = None,
        refresh_mode: str | None = None,
        status: str | None = None,
    ) -> None:
        with self.connection.transaction():
            self._set_shortest_schedule()
            self.connection.execute(
                "SELECT pgstream.alter_stream_table(%s, %s, %s, %s)",
                (name, schedule, refresh_mode, status),
            )

    @known_errors()
    def drop_stream_table(self, name: str) -> None:
        self.connection.execute("SELECT pgstream.drop_stream_table(%s)", (name,))

    @known_errors()
    def refresh_stream_table(self, name: str, full: bool = False) -> RefreshResult:
        """Refreshes what the table reads, then the table; tells what was done."""
        return self._refresh(self.table(name), Initiator.MANUAL, full)

    @known_errors()
    def status(self) -> list[dict[str, Any]]:
        # As a user: it reads our views, and `own` reads tables only.
        return self._rows(self.connection, "SELECT * FROM pgstream.pgs_status()")

    @known_errors()
    def show_settings(self) -> list[dict[str, Any]]:
        """Every setting with its value, and whether that is from the environment, the server,
        the program or by default. Those without effect come last."""
        names = [*(each.name for each in DECLARED), *WITHOUT_EFFECT]
        server = server_settings(self.own, names)
        return setting_rows(server, self._given)

    @known_errors()
    def health(self) -> list[Finding]:
        """What is wrong, the worst first; nothing if all is well."""
        with self.own.transaction():
            return find_faults(self.own, self.settings)

    @known_errors()
    def alerts(self, timeout: float | None = None) -> Iterator[dict[str, Any]]:
        """What `pg_stream_alert` tells from this call on, until so many seconds have passed."""
        if self._listener is None:
            self._listener = open_connection(self.dsn, application_name="pgstream watch")
            listen(self._listener)
        return self._heard(self._listener, timeout)

    @known_errors()
    def history(self, name: str, max_rows: int = 20) -> list[dict[str, Any]]:
        """The newest refreshes first, with everything that is recorded of them."""
        table = self.table(name)
        return self._rows(
            self.own,
            "SELECT * FROM pgstream.pgs_refresh_history WHERE pgs_id = %s"
            " ORDER BY refresh_id DESC LIMIT %s",
            (table.id, max_rows),
        )

    @known_errors()
    def explain(self, name: str) -> list[tuple[str, str]]:
        """The trees and the stages that run."""
        table = self.table(name)
        prepared = prepare(self.own, table, nested_state=self.settings.nested_state)
        return explain(prepared.plan, self.own)

    @known_errors()
    def verify(self, name: str, attempts: int = 20) -> Verification:
        """Refreshes the table and compares it with PostgreSQL's answer to its query.

        The comparison counts only under a snapshot that holds no change which the table has
        not seen; under steady writes it is tried again.
        """
        for attempt in range(attempts):
            self.refresh_stream_table(name)
            with self._snapshot():
                table = self.table(name)
                is_current = table.refresh_mode is Mode.FULL or self._is_current(table)
                found = compare(self.own, table) if is_current else None
            hidden = self.refresher.check_hidden(table) if found else None
            if found and hidden is not None:
                return replace(found, hidden=hidden)
            time.sleep(0.05 * attempt)
        raise RefreshConflict(
            f"The sources of {name} changed during each of {attempts} comparisons.",
            hint="Verify while fewer changes arrive.",
        )

    @known_errors()
    def repair(self) -> list[Repaired]:
        """Makes the catalog fit the database again, after a restore for example; what was not
        whole."""
        migrate.require_version(self.own)
        return repair(self.own)

    @known_errors()
    def table(self, name: str) -> StreamTable:
        """The catalog's record of a stream table."""
        return store.stream_table(self.own, name)

    # --- pieces -----------------------------------------------------------------------------

    def _set_shortest_schedule(self) -> None:
        self.connection.execute(
            "SELECT pg_catalog.set_config('pg_stream.min_schedule_seconds', %s, true)",
            (str(self.settings.min_schedule_seconds),),
        )

    def _refresh(
        self, table: StreamTable, initiator: Initiator, full: bool = False
    ) -> RefreshResult:
        result = self.refresher.refresh(table, initiator, full=full)
        while initiator is Initiator.INITIAL and result.action is Action.SKIP:
            time.sleep(0.05)  # a worker got there first: wait for its outcome
            table = store.stream_table(self.own, table.full_name)
            result = self.refresher.refresh(table, initiator)
        return result

    def _heard(self, listener: Connection, timeout: float | None) -> Iterator[dict[str, Any]]:
        with known_errors():
            yield from heard(listener, timeout)

    def _load_settings(self) -> Settings:
        names = [setting.name for setting in DECLARED]
        return Settings.load(server_settings(self.own, names))

    @contextlib.contextmanager
    def _snapshot(self) -> Iterator[None]:
        self.own.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            yield
        finally:
            self.own.rollback()

    def _is_current(self, table: StreamTable) -> bool:
        relids = [source.relid for source in table.dependencies]
        buffers = open_buffers(self.own, self.refresher.connections().notes, relids)
        return find_changes(buffers, table, {}).nothing

    def _rows(
        self, connection: Connection, statement: str, parameters: Sequence[Any] = ()
    ) -> list[dict[str, Any]]:
        cursor = connection.execute(statement.encode(), parameters)
        names = [column.name for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


@known_errors()
def embedded(
    path: str | os.PathLike[str], spark: Any = None, settings: Settings | None = None
) -> PgStream:
    """PostgreSQL 18 and local Spark, started for you; the data stays in `path`."""
    server = EmbeddedServer.start(path)
    try:
        stream = PgStream(server.dsn, spark, server, settings)
    except BaseException:
        server.stop()
        raise
    try:
        stream.install()
        migrate.require(stream.own)  # it may have been restored from elsewhere
    except BaseException:
        stream.close()
        raise
    return stream


@known_errors()
def connect(dsn: str, spark: Any = None, settings: Settings | None = None) -> PgStream:
    """Your own PostgreSQL, 15 to 18, on which `pgstream init` has run."""
    stream = PgStream(dsn, spark, None, settings)
    try:
        migrate.require(stream.own)
    except BaseException:
        stream.close()
        raise
    return stream


@contextlib.contextmanager
def _located(query: str) -> Iterator[None]:
    """Errors about the query tell where in it they are."""
    try:
        with known_errors(query):
            yield
    except VolatileFunction as error:
        if error.line is None:
            _locate_function(error, query)
        raise


def _locate_function(error: VolatileFunction, query: str) -> None:
    """PostgreSQL names the function; its position is where the text first has it."""
    name = re.search(r"function (\w+)", error.message)
    position = position_of_word(query, name[1]) if name else None
    if position is not None:
        error.line, error.column = position


def _warn(notice: Any) -> None:
    if notice.severity_nonlocalized == "WARNING":
        warnings.warn(notice.message_primary or "", PgStreamWarning, stacklevel=2)
