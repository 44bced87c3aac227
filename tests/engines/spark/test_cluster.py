"""A real cluster of Spark on this machine: a master, a worker, and an engine that asks them."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread, Timer

from discreet.engines.spark.sessions import pyspark_module
from tests.spark import DEFAULTS, configure

HERE = "127.0.0.1"
READY = {"master": "I have been elected leader", "worker": "Successfully registered with master"}
PATIENCE = 300
"""Seconds after which whatever still runs is stopped, and so the test fails."""

LOUD = """
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %m%n
rootLogger.level = info
rootLogger.appenderRef.console.ref = console
"""


def free_port() -> int:
    with socket.socket() as found:
        found.bind((HERE, 0))
        port: int = found.getsockname()[1]
        return port


@contextmanager
def running(name: str, environment: dict[str, str], *arguments: str) -> Iterator[None]:
    """Run a part of the cluster, from when it says that it is ready until the end."""
    home = Path(str(pyspark_module().__file__)).parent
    command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}.{name.title()}"]
    environment = {**environment, "SPARK_HOME": str(home)}
    with subprocess.Popen(  # noqa: S603 - our own command
        [*command, "--host", HERE, "--webui-port", "0", *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        timer = Timer(PATIENCE, process.kill)
        timer.start()
        try:
            output = process.stdout
            assert output is not None
            assert any(READY[name] in line for line in output), f"the {name} did not start"
            Thread(target=output.read, daemon=True).start()  # so that it never waits for a reader
            yield
        finally:
            timer.cancel()
            process.terminate()
            process.wait(30)


def test_a_standalone_cluster_has_the_same_exact_tables(tmp_path: Path) -> None:
    code = DEFAULTS.replace("NO_CODEGEN", "FALLBACK").replace("wholeStage false", "wholeStage true")
    environment = {**os.environ, **configure(code + "spark.executor.memory 1g\n")}
    loud = tmp_path / "loud"
    loud.mkdir()
    (loud / "log4j2.properties").write_text(LOUD, encoding="ascii")
    cluster = {**environment, "SPARK_CONF_DIR": str(loud), "SPARK_DAEMON_MEMORY": "256m"}
    port = free_port()
    address = f"spark://{HERE}:{port}"
    with (
        running("master", cluster, "--port", str(port)),
        running("worker", cluster, "-c", "2", "-m", "1g", "-d", str(tmp_path), address),
    ):
        asked = subprocess.run(  # noqa: S603 - our own command
            [sys.executable, "-m", "tests.engines.spark.on_cluster", address],
            env=environment,
            cwd=Path(__file__).parents[3],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    assert asked.returncode == 0, asked.stderr[-2000:]
    assert asked.stdout == ""
