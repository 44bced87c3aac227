"""Spark sessions: started here or passed in, with settings that keep data out of logs."""

import logging
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa

from discreet.engines.base import deadlines, log
from discreet.errors import SourceError
from discreet.extras import pyspark_module as load_pyspark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.caseSensitive": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.legacy.consecutiveStringLiterals.enabled": "false",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.variable.substitute": "false",
}
"""So that results follow from tables and SQL alone, and that no value of a row raises an error."""

STARTED = {
    "spark.app.name": "discreet",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""Of a Spark that is started for an address: nothing of a query is shown anywhere."""

SILENCE = """
appender.none.type = Null
appender.none.name = none
rootLogger.level = off
rootLogger.appenderRef.none.ref = none
"""
"""For Java's own log, where the words of failed tasks would stand."""

TALKERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""Where pyspark writes the words of what failed, on its own, to the terminal."""

GROUP = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")


class _Here(threading.local):
    is_silent = False


_here = _Here()


def pyspark_module() -> ModuleType:
    """Return pyspark, whose own loggers are heard only where they cannot tell of data."""
    pyspark = load_pyspark()
    for name in TALKERS:
        pyspark.logger.PySparkLogger.getLogger(name).addFilter(_is_heard)
    return pyspark


def _is_heard(_: logging.LogRecord) -> bool:
    return not _here.is_silent


@contextmanager
def silent() -> Iterator[None]:
    """Keep pyspark from writing to the terminal what goes wrong in this thread."""
    pyspark_module()  # whose filter a session that was handed over does not have yet
    before, _here.is_silent = _here.is_silent, True
    try:
        yield
    finally:
        _here.is_silent = before


def failures() -> tuple[type[Exception], ...]:
    """Return all that Spark raises by itself."""
    pyspark = pyspark_module()
    from_java: type[Exception] = pyspark.core.context.Py4JError
    return pyspark.errors.PySparkException, from_java, pa.ArrowException, OSError


# --------------------------------------------------------------------------- starting

_lock = threading.Lock()
_holders = 0
"""How many engines use the Spark that was started here; the last one stops it."""


def take(address: str) -> "SparkSession":
    """Return a session at an address, as local[*] or spark://host:7077; `give_back` it in the end.

    There is one Spark in a process: one that runs already is taken if it is at that address.
    """
    global _holders  # noqa: PLW0603 - one Spark for each process
    pyspark = pyspark_module()
    with _lock:
        running = pyspark.SparkContext._active_spark_context  # noqa: SLF001 - asks, starts nothing
        if running is not None and running.master != address:
            raise SourceError(
                f"This process already uses Spark at {running.master}, so {address} cannot be used",
                "Stop that Spark first, or pass its session",
            )
        if running is None:
            session = _start(pyspark, address)
            _holders = 1
        else:
            session = pyspark.sql.SparkSession.builder.getOrCreate()
            _holders += 1 if _holders else 0
    return session


def give_back(session: "SparkSession") -> None:
    """End the use of a session that was taken; the last one stops a Spark that was started."""
    global _holders  # noqa: PLW0603 - one Spark for each process
    with _lock:
        if _holders == 1:
            session.sparkContext.stop()
        _holders = max(0, _holders - 1)


def _start(pyspark: ModuleType, address: str) -> "SparkSession":
    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        raise SourceError(
            "Spark needs Java 17 or newer, which was not found",
            "Install it, on Debian with apt-get install openjdk-17-jre-headless, or set JAVA_HOME",
        )
    with tempfile.TemporaryDirectory(prefix="discreet-") as folder:
        quiet = Path(folder) / "log4j2.properties"
        quiet.write_text(SILENCE, encoding="ascii")
        builder = pyspark.sql.SparkSession.builder.master(address)
        options = f"-Dlog4j2.configurationFile={quiet}"
        for name, value in {**STARTED, "spark.driver.extraJavaOptions": options}.items():
            builder = builder.config(name, value)
        try:
            session: SparkSession = builder.getOrCreate()
        except failures() as cause:
            log.exception("Spark did not start", exc_info=cause)
            raise SourceError(
                f"Spark could not be started at {address}", "The log discreet.engine has the cause"
            ) from None
    return session


def own_session(session: "SparkSession") -> "SparkSession":
    """Return a session beside the given one, with settings and views of its own."""
    own = session.newSession()
    for name, value in SETTINGS.items():
        own.conf.set(name, value)
    return own


# --------------------------------------------------------------------------- running


def collected(session: "SparkSession", text: str, *, timeout: float) -> pa.Table:
    """Return the result of a statement; Ctrl-C or the end of its time cancels its jobs."""
    context = session.sparkContext
    group = f"discreet-{uuid4().hex}"

    def stop() -> None:
        scala: Any = context._jsc.sc()  # noqa: SLF001 - pyspark cancels jobs that run, not later ones
        scala.cancelJobGroupAndFutureJobs(group)

    with silent(), _in_group(session, group), deadlines().within(timeout, stop):
        try:
            return session.sql(text).toArrow()
        except BaseException as cause:
            stop()
            if _is_interruption(cause):
                raise KeyboardInterrupt from None
            raise


def _is_interruption(cause: BaseException | None) -> bool:
    """Return whether Ctrl-C is behind it; pyspark raises that its job was cancelled instead."""
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__context__
    return cause is not None


@contextmanager
def _in_group(session: "SparkSession", group: str) -> Iterator[None]:
    """Let the jobs of this thread belong to a group, and afterwards to the one as before."""
    context = session.sparkContext
    before = [context.getLocalProperty(name) for name in GROUP]
    context.setJobGroup(group, "discreet", interruptOnCancel=True)
    try:
        yield
    finally:
        for name, value in zip(GROUP, before, strict=True):
            context.setLocalProperty(name, value)  # type: ignore[arg-type]  # None removes it
