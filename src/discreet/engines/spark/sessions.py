"""Spark sessions: started here or passed in, with settings that keep data out of logs."""

import logging
import threading
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from types import ModuleType
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa

from discreet.engines.base import Stop, deadlines
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

AWAY_FROM_DRIVER = {
    "spark.sql.adaptive.autoBroadcastJoinThreshold": "-1",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.optimizeNullAwareAntiJoin": "false",
    "spark.sql.optimizer.dynamicPartitionPruning.reuseBroadcastOnly": "true",
    "spark.sql.optimizer.runtime.bloomFilter.enabled": "false",
}
"""So that no rows pass through the driver on their way to a join: Spark collects what it sends to
all machines. Public tables that are small are marked to be sent so."""

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

HOPELESS_AFTER = 30.0
"""Seconds that a server of Spark Connect has to answer that a query is to end."""

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


def is_remote(session: object) -> bool:
    """Return whether a session or frame is one of Spark Connect; loads nothing."""
    return type(session).__module__.startswith("pyspark.sql.connect.")


def place_of(session: "SparkSession") -> str:
    """Return the address of the Spark that a session belongs to, as it may be shown."""
    if is_remote(session):
        return f"sc://{session.client.host}"
    return str(session.sparkContext.master or "")


def own_session(session: "SparkSession", *, is_ours: bool = False) -> "SparkSession":
    """Return a session beside the given one, with settings and views of its own.

    A session of Spark Connect that is ours alone is one already.
    """
    own = session if is_ours and is_remote(session) else _beside(session)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about settings that are old, and still decide
        for name, value in {**SETTINGS, **AWAY_FROM_DRIVER}.items():
            own.conf.set(name, value)
    if is_remote(own):
        _try_less(own)
    return own


def _beside(session: "SparkSession") -> "SparkSession":
    try:
        return session.newSession()
    except NotImplementedError:
        raise SourceError(
            "A session of Spark Connect can be passed from pyspark 4.3 on",
            "Upgrade pyspark, or pass the address sc://host:15002",
        ) from None


def _try_less(session: "SparkSession") -> None:
    """Have the client of a server that is gone fail after half a minute, not after ten."""
    retries: Any = pyspark_module().sql.connect.client.retries
    few = retries.DefaultPolicy(max_retries=8, max_backoff=5_000)
    session.client.set_retry_policies([few])


# --------------------------------------------------------------------------- running


def collected(session: "SparkSession", text: str, *, timeout: float) -> pa.Table:
    """Return the result of a statement; Ctrl-C or the end of its time cancels its jobs."""
    with silent(), _stoppable(session) as stop, deadlines().within(timeout, stop):
        try:
            return session.sql(text).toArrow()
        except BaseException as cause:
            stop()
            if _is_interruption(cause):
                raise KeyboardInterrupt from None
            if isinstance(cause, ValueError) and is_remote(session):
                raise OSError("the connection is closed") from None
            raise


def _stoppable(session: "SparkSession") -> AbstractContextManager[Stop]:
    """Mark what is run, and give what cancels it."""
    return _with_tag(session) if is_remote(session) else _in_group(session)


def _is_interruption(cause: BaseException | None) -> bool:
    """Return whether Ctrl-C is behind it; pyspark raises that its job was cancelled instead."""
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__context__
    return cause is not None


@contextmanager
def _in_group(session: "SparkSession") -> Iterator[Stop]:
    """Let the jobs of this thread belong to a group, and afterwards to the one as before."""
    context, group = session.sparkContext, f"discreet-{uuid4().hex}"

    def stop() -> None:
        scala: Any = context._jsc.sc()  # noqa: SLF001 - pyspark cancels jobs that run, not later ones
        scala.cancelJobGroupAndFutureJobs(group)

    before = [context.getLocalProperty(name) for name in GROUP]
    context.setJobGroup(group, "discreet", interruptOnCancel=True)
    try:
        yield stop
    finally:
        for name, value in zip(GROUP, before, strict=True):
            context.setLocalProperty(name, value)  # type: ignore[arg-type]  # None removes it


@contextmanager
def _with_tag(session: "SparkSession") -> Iterator[Stop]:
    """Let what this thread runs over Spark Connect have a tag, by which the server ends it."""
    tag = f"discreet-{uuid4().hex}"
    stopping = _Stopping(session, tag)
    session.addTag(tag)
    try:
        yield stopping.begin
    finally:
        session.removeTag(tag)


class _Stopping:
    """Interrupts what has a tag, in threads of its own: a server may be slow to answer."""

    def __init__(self, session: "SparkSession", tag: str) -> None:
        self._session, self._tag = session, tag
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name="interrupt", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        # Closing the connection ends the wait for a server that does not answer any more.
        close: Any = self._session.client.close
        hopeless = threading.Timer(HOPELESS_AFTER, close)
        hopeless.daemon = True
        hopeless.start()
        with silent(), suppress(*failures(), ValueError):
            self._session.interruptTag(self._tag)
        hopeless.cancel()
