"""The words by which releases are known in ledgers: written here, for ever.

A release is called by a digest of a text that says what it means (`query.identity`). The words of
that text are not those of the code. A class, a field or a member of an enumeration may be renamed;
then its entry here follows on the left, and what is written on the right stays. A field that is
added later is written only where it is not at its default, so that what was paid for stays known.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import cache

from discreet.catalog.catalog import Accounting
from discreet.catalog.schema import (
    Auto,
    Bounds,
    ByMonth,
    Column,
    ColumnUnit,
    Kind,
    PathUnit,
    PrivateTable,
    RowUnit,
)
from discreet.mechanisms.sensitivity import Neighbours
from discreet.months import EVERY_MONTH, MonthSpan
from discreet.query.questions import DeclaredGroups, Statistic, UndeclaredGroups
from discreet.query.tree import Facts, Interval, JoinKind, Scan, UnitFunction, WindowFunction


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """How values of a class are written: its name, and its fields' names in order."""

    name: str
    fields: Mapping[str, str]
    """What the code calls each field that counts, and how it is written."""
    added: Mapping[str, tuple[str, object]] = field(default_factory=dict)
    """Fields that came later: how each is written, and the value at which it is not."""
    elsewhere: frozenset[str] = frozenset()
    """Fields that are not written here: the release says what follows from them, where it does."""


RECORDS: Mapping[type, StoredRecord] = {
    Scan: StoredRecord(
        "Scan",
        {"table": "table", "parents": "parents", "is_bounded": "is_kept"},
        {"group_limits": ("group_limits", ()), "months": ("months", EVERY_MONTH)},
    ),
    PrivateTable: StoredRecord(
        "PrivateTable",
        {
            "name": "name",
            "columns": "columns",
            "unit": "unit",
            "rows_per_unit": "rows_per_unit",
            "is_default_limit": "is_default_limit",
            "key": "key",
            "is_prepared": "is_prepared",
        },
        {"by_month": ("by_month", None)},
        elsewhere=frozenset({"groups_per_unit", "arrival"}),
    ),
    ByMonth: StoredRecord(
        "ByMonth",
        {"column": "arrival", "most": "months_per_unit"},
        elsewhere=frozenset({"in_all"}),
    ),
    MonthSpan: StoredRecord("Months", {"first": "first", "last": "last"}),
    Column: StoredRecord(
        "Column",
        {
            "name": "name",
            "kind": "kind",
            "bounds": "bounds",
            "step": "step",
            "values": "values",
            "nulls": "nulls",
        },
        elsewhere=frozenset({"time_step"}),
    ),
    Bounds: StoredRecord("Bounds", {"low": "low", "high": "high"}),
    RowUnit: StoredRecord("RowUnit", {}),
    ColumnUnit: StoredRecord("ColumnUnit", {"column": "column"}),
    PathUnit: StoredRecord("PathUnit", {"column": "column", "table": "table", "key": "key"}),
    DeclaredGroups: StoredRecord("KnownKeys", {"rows": "rows"}),
    UndeclaredGroups: StoredRecord("UnknownKeys", {}),
    Facts: StoredRecord(
        "Facts",
        {
            "kind": "kind",
            "interval": "interval",
            "step": "step",
            "domain": "domain",
            "nullable": "nullable",
        },
    ),
    Interval: StoredRecord("Interval", {"low": "low", "high": "high"}),
}
"""All classes whose values are part of what a release is called."""

MEMBERS: Mapping[Enum, str] = {
    Kind.BOOLEAN: "Kind.BOOLEAN",
    Kind.INTEGER: "Kind.INTEGER",
    Kind.REAL: "Kind.REAL",
    Kind.TEXT: "Kind.TEXT",
    Kind.DATE: "Kind.DATE",
    Kind.TIMESTAMP: "Kind.TIMESTAMP",
    Kind.TIMESTAMP_TZ: "Kind.TIMESTAMP_TZ",
    Kind.INTERVAL: "Kind.INTERVAL",
    Kind.OTHER: "Kind.OTHER",
    Auto.AUTO: "Auto.AUTO",
    Neighbours.ADD_REMOVE: "Neighbours.ADD_REMOVE",
    Neighbours.REPLACE: "Neighbours.REPLACE",
    Accounting.BASIC: "Accounting.BASIC",
    Accounting.CONCENTRATED: "Accounting.CONCENTRATED",
}
"""Members of enumerations that stand beside other values."""

OPERATIONS: Mapping[Enum, str] = {
    Statistic.COUNT_ROWS: "COUNT_ROWS",
    Statistic.COUNT: "COUNT",
    Statistic.COUNT_UNITS: "COUNT_UNITS",
    Statistic.COUNT_DISTINCT: "COUNT_DISTINCT",
    Statistic.SUM: "SUM",
    Statistic.SUM_DISTINCT: "SUM_DISTINCT",
    Statistic.AVG: "AVG",
    Statistic.VAR_SAMP: "VAR_SAMP",
    Statistic.VAR_POP: "VAR_POP",
    Statistic.STDDEV_SAMP: "STDDEV_SAMP",
    Statistic.STDDEV_POP: "STDDEV_POP",
    Statistic.CORR: "CORR",
    Statistic.COVAR_POP: "COVAR_POP",
    Statistic.COVAR_SAMP: "COVAR_SAMP",
    Statistic.REGR_SLOPE: "REGR_SLOPE",
    Statistic.REGR_INTERCEPT: "REGR_INTERCEPT",
    Statistic.REGR_R2: "REGR_R2",
    Statistic.REGR_COUNT: "REGR_COUNT",
    Statistic.REGR_AVGX: "REGR_AVGX",
    Statistic.REGR_AVGY: "REGR_AVGY",
    Statistic.REGR_SXX: "REGR_SXX",
    Statistic.REGR_SYY: "REGR_SYY",
    Statistic.REGR_SXY: "REGR_SXY",
    Statistic.QUANTILE: "QUANTILE",
    Statistic.MIN: "MIN",
    Statistic.MAX: "MAX",
    Statistic.MODE: "MODE",
    JoinKind.INNER: "INNER",
    JoinKind.LEFT: "LEFT",
    UnitFunction.COUNT_ROWS: "COUNT_ROWS",
    UnitFunction.COUNT: "COUNT",
    UnitFunction.COUNT_DISTINCT: "COUNT_DISTINCT",
    UnitFunction.SUM: "SUM",
    UnitFunction.AVG: "AVG",
    UnitFunction.MIN: "MIN",
    UnitFunction.MAX: "MAX",
    UnitFunction.MEDIAN: "MEDIAN",
    WindowFunction.ROW_NUMBER: "ROW_NUMBER",
    WindowFunction.RANK: "RANK",
    WindowFunction.DENSE_RANK: "DENSE_RANK",
    WindowFunction.LAG: "LAG",
    WindowFunction.LEAD: "LEAD",
    WindowFunction.FIRST_VALUE: "FIRST_VALUE",
    WindowFunction.LAST_VALUE: "LAST_VALUE",
    WindowFunction.COUNT: "COUNT",
    WindowFunction.SUM: "SUM",
    WindowFunction.MIN: "MIN",
    WindowFunction.MAX: "MAX",
}
"""What is computed: written before what it is computed of, where nothing else can stand."""

PLAIN: Mapping[type, str] = {
    type(None): "NoneType",
    bool: "bool",
    int: "int",
    float: "float",
    str: "str",
    Fraction: "Fraction",
    Decimal: "Decimal",
}
"""Values that are written as Python shows them, each after its length."""

MOMENTS: Mapping[type, str] = {date: "date", datetime: "datetime"}
"""Values that are written by ISO 8601."""


@cache
def stored_record(kind: type) -> StoredRecord:
    """Return how values of a class are written; its fields must be those that are listed.

    A class or field that is not listed is a mistake in this program: nobody decided how a ledger
    would know it again.
    """
    record = RECORDS.get(kind)
    if record is None:
        raise TypeError(f"{kind.__qualname__} has no name in query.stored_names")
    listed = {*record.fields, *record.added, *record.elsewhere}
    if {each.name for each in fields(kind) if each.compare} != listed:
        raise TypeError(f"query.stored_names lists other fields of {kind.__qualname__}")
    return record


def operation_name(operation: Enum) -> str:
    """Return how what is computed is written."""
    if operation not in OPERATIONS:
        raise TypeError(f"{operation} has no name in query.stored_names")
    return OPERATIONS[operation]
