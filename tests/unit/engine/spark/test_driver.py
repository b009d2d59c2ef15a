"""What Java is started with; whether a master answers."""

from __future__ import annotations

import socket

import pytest

from pgstream.engine.spark import cluster
from pgstream.engine.spark.driver import driver_memory, launch, launch_options, machine_memory
from pgstream.errors import SettingError, SparkLost
from pgstream.settings import Settings

GIB = 1024**3


@pytest.mark.parametrize(
    ("machine", "memory"),
    [(1, "1024m"), (2, "1024m"), (4, "1024m"), (8, "2048m"), (16, "4096m"), (512, "8192m")],
)
def test_auto_is_a_quarter_of_the_machine(machine: int, memory: str) -> None:
    assert driver_memory("auto", machine * GIB) == memory


def test_a_size_is_taken_as_it_is() -> None:
    assert driver_memory("3g") == "3g"
    assert launch_options(Settings(spark_driver_memory="900m"))["spark.driver.memory"] == "900m"


def test_the_machine_has_memory() -> None:
    assert GIB // 4 < machine_memory() < 1024 * 1024 * GIB


@pytest.mark.parametrize("text", ["lots", "1", "0g", "-1g", "1.5g", "2gb", "g"])
def test_other_sizes_are_refused(text: str) -> None:
    with pytest.raises(SettingError, match="such as 1500m or 2g"):
        Settings.load(environ={"PGSTREAM_SPARK_DRIVER_MEMORY": text})


def test_java_ends_when_it_is_out_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", "-XX:+PrintGC")
    options = launch_options(Settings())["spark.driver.extraJavaOptions"]
    assert "-XX:+ExitOnOutOfMemoryError" in options
    assert "-XX:+UseParallelGC" in options


def test_only_one_collector_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", "-XX:+UseSerialGC")
    assert "UseParallelGC" not in launch_options(Settings())["spark.driver.extraJavaOptions"]


def test_a_master_must_answer_before_java_is_started() -> None:
    with socket.socket() as closed, socket.socket() as listening:
        closed.bind(("127.0.0.1", 0))
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        nobody, somebody = (f"127.0.0.1:{s.getsockname()[1]}" for s in (closed, listening))
        assert cluster.answers("local[2]")
        assert cluster.answers(f"spark://{nobody},{somebody}")
        assert not cluster.answers(f"spark://{nobody}")
        with pytest.raises(SparkLost, match="No Spark master answers"):
            launch(Settings(spark_master=f"spark://{nobody}"))
