"""load: TPC-H's rows, made by the program tpchgen-cli and loaded by COPY."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path

from pgstream.bench.tpch.sections import TABLES, text_of
from pgstream.client import PgStream
from pgstream.database.quoting import compose, identifier
from pgstream.errors import ProgramMissing

PIECE = 1 << 20


def load(stream: PgStream, scale: float) -> None:
    """The eight tables of this scale factor, with their indexes and statistics."""
    stream.execute(text_of("tables.sql"))
    with tempfile.TemporaryDirectory(prefix="pgstream-tpch-") as folder:
        _generate(scale, folder)
        for table in TABLES:
            _copy(stream, table, Path(folder, f"{table}.csv"))
    stream.execute("ANALYZE " + ", ".join(TABLES))


def _generate(scale: float, folder: str) -> None:
    command = [_program(), "csv", "-s", str(scale), "-o", folder]
    subprocess.run(command, check=True, capture_output=True)


def _program() -> str:
    beside = Path(sysconfig.get_path("scripts"), "tpchgen-cli")
    found = str(beside) if beside.exists() else shutil.which("tpchgen-cli")
    if found is None:
        raise ProgramMissing(
            "The program tpchgen-cli, which makes TPC-H's rows, is not installed.",
            hint="pip install 'pgstream[bench]'",
        )
    return found


def _copy(stream: PgStream, table: str, path: Path) -> None:
    statement = compose("COPY {t} FROM STDIN (FORMAT csv, HEADER)", t=identifier(table))
    with stream.connection.cursor().copy(statement) as copy, path.open("rb") as file:
        while piece := file.read(PIECE):
            copy.write(piece)
