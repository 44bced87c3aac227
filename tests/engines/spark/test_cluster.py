"""A real cluster of Spark on this machine: a master, two workers, and an engine that asks them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread, Timer

from discreet.engines.spark.sessions import pyspark_module
from tests.engines.spark.on_connect import HERE, free_port
from tests.spark import DEFAULTS, configure

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


def asked(address: str, environment: dict[str, str], *words: str) -> None:
    """Run the questions to the cluster in a process of their own."""
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "tests.engines.spark.on_cluster", address, *words],
        env=environment,
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == ""


def test_a_cluster_of_two_workers_has_the_same_exact_tables(tmp_path: Path) -> None:
    """Before it has any worker, it is refused."""
    code = DEFAULTS.replace("NO_CODEGEN", "FALLBACK").replace("wholeStage false", "wholeStage true")
    environment = {**os.environ, **configure(code + "spark.executor.memory 512m\n")}
    loud = tmp_path / "loud"
    loud.mkdir()
    (loud / "log4j2.properties").write_text(LOUD, encoding="ascii")
    cluster = {**environment, "SPARK_CONF_DIR": str(loud), "SPARK_DAEMON_MEMORY": "256m"}
    port = free_port()
    address = f"spark://{HERE}:{port}"
    worker = ("-c", "1", "-m", "512m", "-d", str(tmp_path), address)
    with running("master", cluster, "--port", str(port)):
        asked(address, environment, "idle")
        with running("worker", cluster, *worker), running("worker", cluster, *worker):
            asked(address, environment)
