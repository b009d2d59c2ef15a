"""Archives the classes that Spark loads when it starts: `python java_classes.py FILE`.

The tests start Java some fifty times; with the archive a start takes half as long.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pyarrow as pa

from pgstream.engine.spark import driver
from pgstream.settings import Settings

ARCHIVE = Path(sys.prefix, "java_classes.jsa")
# An archive of another Java is passed over, without a word.
QUIET = "-Xlog:disable"


def options() -> str:
    """What a start with the archive needs, if there is one."""
    return f"-XX:SharedArchiveFile={ARCHIVE} {QUIET}" if ARCHIVE.exists() else ""


def write(archive: str) -> None:
    os.environ["SPARK_SUBMIT_OPTS"] = f"-XX:ArchiveClassesAtExit={archive} {QUIET}"
    session = driver.launch(Settings(spark_master="local[1]", spark_driver_memory="1g"))
    session.createDataFrame(pa.table({"k": [1, 2], "v": [3, 4]})).createTempView("t")
    session.sql("SELECT a.k, sum(b.v) AS s FROM t a JOIN t b ON a.k = b.k GROUP BY a.k").toArrow()
    java = driver.process()
    session.stop()
    assert java is not None
    assert java.stdin is not None
    java.stdin.close()
    java.wait()


if __name__ == "__main__":
    write(sys.argv[1])
