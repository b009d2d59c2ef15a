"""Every kind of DDL on a source × read or not × by triggers or from the WAL: no write fails, and a
stream table is exact or says why it cannot be computed.

Each case has a schema of its own. Of partitions, children, views, functions and types there is more
in tests/e2e/test_ddl.py and test_follow_ddl.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import pytest

from pgstream.database import migrate
from pgstream.database.connection import connect, connect_as_user
from pgstream.errors import CaptureLost, SourceChanged
from played_reader import AGAIN, CHANGES, PlayedReader
from wal_capture import mode

pytestmark = pytest.mark.postgres

GONE = "the column a of {}.t has been renamed or dropped"
DROPPED = "the table {}.t has been dropped"
SECURED = "{}.t has row security now"
WRITES = (
    "INSERT INTO {} (id) VALUES (11), (12)",
    "UPDATE {} SET id = id + 100 WHERE id = 1",
    "DELETE FROM {} WHERE id = 2",
)
MORE = ("INSERT INTO {} (id) VALUES (21)", "UPDATE {} SET id = 31 WHERE id = 21")


@dataclass(frozen=True)
class Kind:
    """What becomes of a reader of the column `a`, and of one beside it that does not read it:
    CHANGES, AGAIN or an error's message. They share a buffer: rows that cannot be captured for one
    are lost to both. From the WAL, AGAIN may stand for CHANGES, and the other way round."""

    ddl: str
    read: str = CHANGES
    unread: str = CHANGES
    now: str = "{}.t"
    since: int = 0
    not_published: bool = False
    """PostgreSQL refuses it for a published table."""


KINDS = [
    Kind("ALTER TABLE {}.t ADD c int DEFAULT 7"),
    Kind("ALTER TABLE {}.t ADD c int GENERATED ALWAYS AS IDENTITY"),
    Kind("ALTER TABLE {}.t ADD c int GENERATED ALWAYS AS (id + 1) STORED"),
    Kind("ALTER TABLE {}.t ADD c int GENERATED ALWAYS AS (id + 1) VIRTUAL", since=180000),
    Kind("ALTER TABLE {}.t DROP b"),
    Kind("ALTER TABLE {}.t DROP a", GONE, AGAIN),
    Kind("ALTER TABLE {}.t RENAME a TO c", GONE, AGAIN),
    Kind("ALTER TABLE {0}.t RENAME a TO c; ALTER TABLE {0}.t RENAME c TO a", AGAIN),
    Kind("ALTER TABLE {}.t ALTER a TYPE bigint", AGAIN, AGAIN),
    Kind("ALTER TABLE {}.t ALTER a TYPE text USING 'n' || a", AGAIN, AGAIN),
    Kind('ALTER TABLE {}.t ALTER b TYPE text COLLATE "C"'),
    Kind("ALTER TABLE {}.t DROP a, ADD a int", AGAIN),
    Kind("ALTER TABLE {}.t ALTER a SET DEFAULT 5"),
    Kind("ALTER TABLE {}.t ALTER id SET NOT NULL"),
    Kind("ALTER TABLE {}.t ALTER a SET STATISTICS 10"),
    Kind("ALTER TABLE {}.t ADD CHECK (id > 0)"),
    Kind("ALTER TABLE {}.t ADD PRIMARY KEY (id)"),
    Kind("CREATE INDEX ON {}.t (a)"),
    Kind("CREATE STATISTICS {0}.s ON id, a FROM {0}.t"),
    Kind("COMMENT ON COLUMN {}.t.a IS 'x'"),
    Kind("CREATE RULE r AS ON UPDATE TO {}.t DO ALSO NOTHING"),
    Kind("CREATE TRIGGER of_a_user BEFORE INSERT ON {}.t FOR EACH ROW EXECUTE FUNCTION tens()"),
    Kind("VACUUM FULL {}.t"),
    Kind("ALTER TABLE {}.t SET (fillfactor = 50)"),
    Kind("ALTER TABLE {}.t SET UNLOGGED", not_published=True),
    Kind("ALTER TABLE {}.t RENAME TO u", now="{}.u"),
    Kind("CREATE SCHEMA {0}_far; ALTER TABLE {0}.t SET SCHEMA {0}_far", now="{}_far.t"),
    Kind("ALTER SCHEMA {0} RENAME TO {0}_far", now="{}_far.t"),
    Kind("DROP TABLE {}.t", DROPPED, DROPPED, now=""),
    Kind("DROP SCHEMA {} CASCADE", DROPPED, DROPPED, now=""),
    Kind("ALTER TABLE {}.t ENABLE ROW LEVEL SECURITY", SECURED, SECURED),
    Kind("ALTER TABLE {}.t DISABLE TRIGGER USER", AGAIN, AGAIN),
    Kind(
        "ALTER TABLE {0}.t DISABLE TRIGGER USER; DELETE FROM {0}.t WHERE id = 3;"
        " ALTER TABLE {0}.t ENABLE TRIGGER USER",
        AGAIN,
        AGAIN,
    ),
    Kind("ALTER TABLE {}.t REPLICA IDENTITY NOTHING"),
    Kind("ALTER TABLE {}.t REPLICA IDENTITY DEFAULT"),
    Kind("TRUNCATE {}.t", AGAIN, AGAIN),
    Kind("CREATE TABLE {0}.kid () INHERITS ({0}.t)"),
    Kind(
        "CREATE TABLE {0}.kid () INHERITS ({0}.t); INSERT INTO {0}.kid VALUES (50, 50)",
        AGAIN,
        AGAIN,
    ),
    Kind(
        "CREATE TABLE {0}.whole (id int, a int, b text) PARTITION BY LIST (id);"
        " ALTER TABLE {0}.whole ATTACH PARTITION {0}.t DEFAULT"
    ),
]
TENS = """
CREATE FUNCTION tens() RETURNS trigger LANGUAGE plpgsql AS
'BEGIN NEW.a := NEW.id * 10; RETURN NEW; END'
"""


@pytest.fixture(scope="module")
def dsn(create_database: Callable[[str], str]) -> Iterator[str]:
    """A superuser has installed, so that event triggers see DDL."""
    address = create_database("template0")
    with connect(address) as own:
        migrate.install(own)
        own.execute(TENS)
        yield address
        migrate.uninstall(own)


@pytest.fixture(params=["trigger", "auto"], ids=["by triggers", "from the WAL"])
def cdc_mode(request, dsn) -> str:
    with connect(dsn) as own:
        if request.param == "auto" and own.execute("SHOW wal_level").fetchone() != ("logical",):
            pytest.skip("the server has no wal_level = logical")
    return str(request.param)


_schemas = itertools.count(1)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.ddl)
def test_ddl(dsn: str, cdc_mode: str, kind: Kind) -> None:
    with closing(connect_as_user(dsn)) as user, connect(dsn) as reader, connect(dsn) as own:
        if user.info.server_version < kind.since:
            pytest.skip(f"since PostgreSQL {kind.since // 10000}")
        if cdc_mode == "auto" and kind.not_published:
            pytest.skip("PostgreSQL refuses it for a published table")
        if "ATTACH" in kind.ddl and cdc_mode == "trigger" and refuses(user.info.server_version):
            pytest.skip("this PostgreSQL takes statement triggers for row triggers")
        schema = f"s{next(_schemas)}"
        user.execute(f"CREATE SCHEMA {schema}")
        user.execute(f"CREATE TABLE {schema}.t (id int, a int, b text)")
        user.execute(f"ALTER TABLE {schema}.t REPLICA IDENTITY FULL")
        user.execute(f"INSERT INTO {schema}.t SELECT i, i FROM generate_series(1, 5) i")
        readers = []
        for name, columns in (("read", ("id", "a")), ("unread", ("id",))):
            user.execute(
                "SELECT pgstream.create_stream_table(%s, %s)",
                (f"{schema}_{name}", f"SELECT {', '.join(columns)} FROM {schema}.t"),
            )
            readers.append(PlayedReader(reader, own, f"{schema}_{name}", columns, cdc_mode))
        for each in (*readers, *readers):
            each.refresh()
        assert mode(own, f"{schema}.t") == ("WAL" if cdc_mode == "auto" else "TRIGGER")
        write(user, f"{schema}.t", WRITES[:1])
        user.execute(f"INSERT INTO {schema}.t VALUES (6, 6)")
        for statement in kind.ddl.format(schema).split("; "):
            user.execute(statement.encode())
        now = kind.now.format(schema)
        write(user, now, WRITES[1:])
        for each, wanted in zip(readers, (kind.read, kind.unread), strict=True):
            check(each, wanted.format(schema), exactly=cdc_mode == "trigger")
        write(user, now, MORE)
        for each, wanted in zip(readers, (kind.read, kind.unread), strict=True):
            if wanted in (CHANGES, AGAIN):
                check(each, CHANGES, exactly=cdc_mode == "trigger")
            user.execute("SELECT pgstream.drop_stream_table(%s)", (each.name,))


def refuses(version: int) -> bool:
    """Whether a table with our triggers cannot become a partition: docs/operations.md."""
    major, minor = divmod(version, 10_000)
    return minor < {15: 14, 16: 10, 17: 6}.get(major, 0)


def write(user: Any, table: str, statements: tuple[str, ...]) -> None:
    for statement in statements if table else ():
        user.execute(statement.format(table).encode())


def check(reader: PlayedReader, wanted: str, exactly: bool) -> None:
    if wanted not in (CHANGES, AGAIN):
        with pytest.raises(SourceChanged) as raised:
            settled(reader)
        assert wanted in raised.value.message
        return
    found = settled(reader)
    assert not exactly or found == wanted


def settled(reader: PlayedReader) -> str:
    """Once more if what the WAL held is lost: then triggers have taken over."""
    try:
        return reader.refresh()
    except CaptureLost:
        return reader.refresh()
