"""Values as SQL literals."""

from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from math import isfinite

from discreet.catalog.schema import Kind, Value
from discreet.engines.dialect import Dialect, Written


def literal_of(value: Value, kind: Kind, dialect: Dialect) -> Written:
    """Return a value as SQL that reads back as the same one; NaN and infinities are NULL."""
    text = _literal_text(value, kind, dialect)
    whole = value if isinstance(value, int) and not isinstance(value, bool) else None
    reach, span = None, None
    if kind is Kind.REAL and isinstance(value, int | float | Fraction | Decimal):
        near = nearest_float(value)
        reach, span = abs(near), (near, near) if isfinite(near) else None
    return Written(
        text=text,
        kind=kind,
        low=whole,
        high=whole,
        reach=reach,
        span=span,
        is_literal=True,
        value=value,
    )


def _literal_text(value: Value, kind: Kind, dialect: Dialect) -> str:  # noqa: PLR0911
    match value:
        case None:
            return f"CAST(NULL AS {dialect.types[kind]})"
        case bool():
            return "TRUE" if value else "FALSE"
        case int() if kind is not Kind.REAL:
            return dialect.number(value)
        case int() | float() | Fraction() | Decimal():
            return dialect.real(nearest_float(value))
        case str():
            return dialect.text(value)
        case datetime() if kind is Kind.TIMESTAMP_TZ or value.tzinfo is not None:
            utc = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
            stamp = utc.replace(tzinfo=None).isoformat(sep=" ")
            return f"CAST('{stamp}+00' AS {dialect.types[Kind.TIMESTAMP_TZ]})"
        case datetime():
            return f"CAST('{value.isoformat(sep=' ')}' AS {dialect.types[Kind.TIMESTAMP]})"
        case date():
            return f"CAST('{value.isoformat()}' AS {dialect.types[Kind.DATE]})"


def nearest_float(value: float | Fraction | Decimal) -> float:
    """Return the nearest floating-point number, infinite if there is none."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
