"""Optional dependencies, loaded in one place that names the extra to install."""

import warnings
from importlib import import_module
from types import ModuleType

from discreet.errors import MissingExtraError


def load(name: str, *, what: str, extra: str) -> ModuleType:
    """Return an optional module, or raise an error that says how to install it."""
    try:
        return import_module(name)
    except ImportError as cause:
        raise MissingExtraError(what, extra=extra) from cause


def matplotlib_module() -> ModuleType:
    """Return Matplotlib with its figures."""
    load("matplotlib.figure", what="Plot support", extra="plots")
    return import_module("matplotlib")


def pandas_module() -> ModuleType:
    """Return pandas."""
    return load("pandas", what="pandas support", extra="frames")


def polars_module() -> ModuleType:
    """Return Polars."""
    return load("polars", what="Polars support", extra="frames")


def psycopg_module() -> ModuleType:
    """Return psycopg."""
    return load("psycopg", what="PostgreSQL support", extra="postgres")


def pyspark_module() -> ModuleType:
    """Return pyspark with its sessions and its logger."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about versions of libraries that are not used here
        for name in ("pyspark.logger", "pyspark.sql"):
            load(name, what="Spark support", extra="spark")
    return import_module("pyspark")


def connect_module() -> ModuleType:
    """Return pyspark's sessions of Spark Connect."""
    pyspark_module()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        name = "pyspark.sql.connect.session"
        return load(name, what="Spark Connect support", extra="spark-connect")


def delta_module() -> ModuleType:
    """Return deltalake, which reads the logs of Delta tables."""
    return load("deltalake", what="Delta table support", extra="delta")
