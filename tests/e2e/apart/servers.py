"""Spark's own servers, from the pip package, on loopback."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pyspark

import java_classes

HOME = Path(pyspark.__file__).parent
# A worker gives its environment to its executors, so this is for them too.
SMALL_JAVA = f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC {java_classes.options()}"
START_SECONDS = 60.0


class Server:
    """One Java process. It can be killed and started again on the same port."""

    def __init__(self, port: int, *command: str, **environment: str) -> None:
        self.port, self.command = port, command
        self.environment = {
            **os.environ,
            "SPARK_HOME": str(HOME),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
            "JDK_JAVA_OPTIONS": SMALL_JAVA,
            "PYSPARK_PYTHON": sys.executable,
            **environment,
        }
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 (as long as the server)
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = subprocess.Popen(
            self.command, env=self.environment, stdout=self.log, stderr=self.log
        )
        if self.port:
            self._wait(self.process)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and process.poll() is None:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            time.sleep(0.1)
        self.log.seek(0)
        raise AssertionError(self.log.read().decode()[-3000:])


@contextlib.contextmanager
def started(*servers: Server) -> Iterator[None]:
    try:
        for server in servers:
            server.start()
        yield
    finally:
        for server in servers:
            server.kill()


def master(port: int) -> Server:
    name = "org.apache.spark.deploy.master.Master"
    options = ("--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")
    return Server(port, str(HOME / "bin" / "spark-class"), name, *options)


def worker(port_of_master: int, folder: str) -> Server:
    name = "org.apache.spark.deploy.worker.Worker"
    options = ("--host", "127.0.0.1", "--webui-port", "0", "-c", "1", "-m", "512m", "-d", folder)
    address = f"spark://127.0.0.1:{port_of_master}"
    return Server(0, str(HOME / "bin" / "spark-class"), name, *options, address)


def connect_server(port: int) -> Server:
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.ui.enabled": "false",
    }
    options = [part for pair in settings.items() for part in ("--conf", "=".join(pair))]
    name = "org.apache.spark.sql.connect.service.SparkConnectServer"
    command = (str(HOME / "bin" / "spark-submit"), "--class", name, "--master", "local[2]")
    return Server(port, *command, *options, SPARK_DAEMON_MEMORY="768m")


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
