"""Our SQL functions and views: their files, and how a database gets them.

`functions/<area>/<name>.sql` holds one function, or one view, and beside it who may use it. All
files are applied again whenever their hash is not the one that the database keeps.

The order: functions first, by path, for their bodies, which name each other, are not checked
when they are made; then views, each after those that it reads.

The rights: the public functions run as their caller, who must be able to execute what they call.
`_register`, `_alter` and `_drop` run with the rights of pgstream and check their caller's. The rest
of those that change something are for pgstream alone.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from importlib import resources

import psycopg
from psycopg import errors

from pgstream.errors import PgStreamError

_RIGHT = re.compile(
    r"^(?:GRANT EXECUTE|REVOKE ALL) ON FUNCTION (pgstream\.\w+\([^)]*\)) (?:TO|FROM) PUBLIC;$", re.M
)
_STRANGE_VIEWS = """
SELECT oid::regclass::text FROM pg_class
WHERE relnamespace = 'pgstream'::regnamespace AND relkind = 'v' AND NOT relname = ANY (%s)
"""
_STRANGE_FUNCTIONS = """
SELECT oid::regprocedure::text FROM pg_proc
WHERE pronamespace = 'pgstream'::regnamespace AND NOT oid = ANY (%s::regprocedure[]::oid[])
"""
# Those of sources that are captured by triggers, with buffers as these functions write them.
_RENEW_CAPTURE = """
SELECT pgstream._fit_buffer(t.source_relid), pgstream._create_capture_function(t.source_relid)
  FROM pgstream.pgs_change_tracking t
 WHERE to_regproc(pgstream._capture_function_name(t.source_relid)) IS NOT NULL
   AND t.source_relid IN (SELECT oid FROM pg_class)
"""
# Of sources that an earlier version has captured.
_STAMP_TRIGGERS = """
UPDATE pgstream.pgs_change_tracking SET triggers = pgstream._trigger_stamps(source_relid)
 WHERE triggers IS NULL
"""

# Of stream tables that an earlier version has made.
_SAVE_SHAPES = """
SELECT pgstream._save_shapes(pgs_id)
  FROM (SELECT DISTINCT pgs_id FROM pgstream.pgs_dependencies WHERE shape IS NULL) unknown
"""


@dataclass(frozen=True, slots=True)
class SqlFile:
    area: str
    name: str
    text: str

    @property
    def is_view(self) -> bool:
        return re.search(r"^CREATE OR REPLACE VIEW ", self.text, re.M) is not None

    @property
    def signatures(self) -> list[str]:
        """The functions of the file, as its rights name them."""
        return _RIGHT.findall(self.text)


@cache
def sql_files() -> tuple[SqlFile, ...]:
    """All that this version of pgstream has, in the order in which they are applied."""
    root = resources.files("pgstream.database") / "functions"
    return in_order(
        SqlFile(area.name, file.name.removesuffix(".sql"), file.read_text(encoding="utf-8"))
        for area in root.iterdir()
        if area.is_dir()
        for file in area.iterdir()
        if file.name.endswith(".sql")
    )


def in_order(files: Iterable[SqlFile]) -> tuple[SqlFile, ...]:
    by_path = sorted(files, key=lambda file: (file.area, file.name))
    views = {file.name: file for file in by_path if file.is_view}
    reads = {name: _named(views.keys() - {name}, view.text) for name, view in views.items()}
    functions = [file for file in by_path if not file.is_view]
    return (*functions, *(views[name] for name in TopologicalSorter(reads).static_order()))


def hash_of(files: Iterable[SqlFile]) -> str:
    return hashlib.sha256("".join(file.text for file in files).encode()).hexdigest()


def stored_hash(conn: psycopg.Connection) -> str | None:
    """The hash of what the database has; None if it has no functions yet."""
    row = conn.execute("SELECT hash FROM pgstream.pgs_functions").fetchone()
    return None if row is None else str(row[0])


def apply(conn: psycopg.Connection, files: Sequence[SqlFile]) -> None:
    """Make the functions and views of the database those of the files, in a transaction."""
    conn.execute("SET LOCAL check_function_bodies = off")
    conn.execute("SET LOCAL client_min_messages = warning")  # no notice about what is not there
    for file in files:
        if not file.is_view:
            _replace(conn, file)
    _drop_strangers(conn, files)  # before the views, which must not find an old overload
    for file in files:
        if file.is_view:
            _replace(conn, file)
    conn.execute(_RENEW_CAPTURE)
    conn.execute(_STAMP_TRIGGERS)
    conn.execute(_SAVE_SHAPES)
    conn.execute("SELECT pgstream._create_event_triggers()")
    conn.execute("DELETE FROM pgstream.pgs_functions")
    conn.execute("INSERT INTO pgstream.pgs_functions (hash) VALUES (%s)", (hash_of(files),))


def _replace(conn: psycopg.Connection, file: SqlFile) -> None:
    """PostgreSQL replaces no function that returns another type, and no view with fewer columns."""
    _execute(conn, file.text, _drop("FUNCTION", file.signatures) + file.text)


def _drop_strangers(conn: psycopg.Connection, files: Sequence[SqlFile]) -> None:
    """What no file defines is of another version."""
    views = [file.name for file in files if file.is_view]
    functions = [signature for file in files for signature in file.signatures]
    drops = _drop("VIEW", _texts(conn, _STRANGE_VIEWS, views))
    drops += _drop("ROUTINE", _texts(conn, _STRANGE_FUNCTIONS, functions))
    _execute(conn, drops, drops)


def _execute(conn: psycopg.Connection, text: str, otherwise: str) -> None:
    """Run the text; if PostgreSQL refuses, drop our views, which are made again, and run the other.

    Nothing cascades: what users have built on ours stops the upgrade.
    """
    try:
        with conn.transaction():
            conn.execute(text.encode())
    except (
        errors.InvalidFunctionDefinition,
        errors.InvalidTableDefinition,
        errors.DependentObjectsStillExist,
    ):
        views = _drop("VIEW", _texts(conn, _STRANGE_VIEWS, []))
        _insist(conn, views + otherwise)


def _insist(conn: psycopg.Connection, text: str) -> None:
    try:
        conn.execute(text.encode())
    except errors.DependentObjectsStillExist as error:
        raise PgStreamError(
            "something of yours depends on a function or view of pgstream that has changed",
            detail=error.diag.message_detail,
            hint="Drop it, run: pgstream init, and create it again.",
        ) from error


def _drop(kind: str, names: Sequence[str]) -> str:
    """One statement, for they may depend on each other. PostgreSQL or we have quoted the names."""
    return f"DROP {kind} IF EXISTS {', '.join(names)};\n" if names else ""


def _texts(conn: psycopg.Connection, query: str, known: list[str]) -> list[str]:
    return [str(text) for (text,) in conn.execute(query.encode(), (known,)).fetchall()]


def _named(names: Iterable[str], text: str) -> list[str]:
    return sorted(name for name in names if re.search(rf"\bpgstream\.{name}\b", text))
