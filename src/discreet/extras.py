"""Optional dependencies, loaded in one place that names the extra to install."""

from types import ModuleType

from discreet.errors import MissingExtraError


def psycopg_module() -> ModuleType:
    """Return psycopg, or say what to install."""
    try:
        import psycopg  # noqa: PLC0415 - an optional extra, imported here only
    except ImportError as cause:
        raise MissingExtraError("PostgreSQL support", extra="postgres") from cause
    return psycopg
