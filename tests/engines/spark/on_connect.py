"""A real server of Spark Connect for tests, in a process of its own."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.engines.spark.sessions import pyspark_module
from tests.spark import configure

HERE = "127.0.0.1"
SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
PATIENCE = 120
"""Seconds after which a server that is not there yet is given up."""


def free_port() -> int:
    with socket.socket() as found:
        found.bind((HERE, 0))
        port: int = found.getsockname()[1]
        return port


@contextmanager
def connect_server(master: str = "local[2]", *settings: str) -> Iterator[str]:
    """Run a server until the end; return its address."""
    home, port = Path(str(pyspark_module().__file__)).parent, free_port()
    given = (f"spark.connect.grpc.binding.port={port}", "spark.ui.enabled=false", *settings)
    command = [str(home / "bin" / "spark-class"), "org.apache.spark.deploy.SparkSubmit"]
    command += ["--master", master, "--class", SERVER]
    command += [part for each in given for part in ("--conf", each)]
    with subprocess.Popen(  # noqa: S603 - our own command
        [*command, "spark-internal"],
        env={**os.environ, **configure(), "SPARK_HOME": str(home)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            wait_for(port)
            yield f"sc://{HERE}:{port}"
        finally:
            process.terminate()
            process.wait(30)


def wait_for(port: int) -> None:
    """Return when somebody listens at a port of this machine."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection((HERE, port), timeout=1).close()
        except OSError:
            assert time.monotonic() < until, "the server did not start"
            time.sleep(0.1)
        else:
            return
