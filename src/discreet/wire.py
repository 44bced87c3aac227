"""Explanations, coverage and catalogs as JSON, and back: what a server sends to its clients.

Only the classes of a list can be sent and made, and none of them does anything when it is made.
"""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

from discreet.account_limits import AccountLimits
from discreet.amounts import Balance, Price
from discreet.answer.answer import Note
from discreet.catalog import Catalog
from discreet.catalog.catalog import (
    Accounting,
    BudgetPolicy,
    Per,
    RowChoice,
    SourcePolicy,
    Suspends,
)
from discreet.catalog.schema import (
    Auto,
    Bounds,
    ByMonth,
    Column,
    ColumnUnit,
    Kind,
    PathUnit,
    PrivateTable,
    PublicTable,
    RowUnit,
)
from discreet.coverage.shares import Share, UnitSizes
from discreet.explanation.coverage import ClampedColumn, Coverage
from discreet.explanation.explanation import ExplainedColumn, Explanation
from discreet.mechanisms.sensitivity import Neighbours
from discreet.parameters import fraction_from

CLASSES: Mapping[str, type[Any]] = {
    each.__name__: each
    for each in (
        *(
            Price,
            Balance,
            AccountLimits,
            Explanation,
            ExplainedColumn,
            Coverage,
            ClampedColumn,
            Share,
            UnitSizes,
        ),
        *(Catalog, BudgetPolicy, SourcePolicy, Column, Bounds, PrivateTable, PublicTable),
        *(ColumnUnit, PathUnit, RowUnit, ByMonth),
    )
}
ENUMS: Mapping[str, type[Enum]] = {
    each.__name__: each for each in (Neighbours, Kind, Auto, Accounting, RowChoice, Suspends, Per)
}
TEXTS: Mapping[str, Any] = {
    "Fraction": fraction_from,
    "Decimal": Decimal,
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
}
CLASS, VALUE = "is", "of"
"""The keys of an object that stands for a value of a class."""


def to_wire(value: object) -> str:
    """Return a value as JSON."""
    return json.dumps(_encoded(value), ensure_ascii=False, allow_nan=False)


def from_wire(text: str | bytes) -> Any:
    """Return the value that `to_wire` wrote. Anything else is a ValueError."""
    try:
        return _decoded(json.loads(text))
    except (LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        raise ValueError("This is not a value that a server sends") from error


def shown_catalog(catalog: Catalog) -> Catalog:
    """Return a catalog without addresses, paths and accounts, which are for whoever holds data."""
    policy = SourcePolicy(version=catalog.source.version, row_choice=catalog.source.row_choice)
    return replace(catalog, sources={}, source=policy, analysts=(), ledger=None)


def _encoded(value: object) -> object:  # noqa: PLR0911 - a kind of value each
    match value:
        case None | bool() | int() | float():
            return value
        case Note():
            return {CLASS: "Note", VALUE: [str(value), value.is_printed]}
        case str():
            return value
        case Enum():
            return {CLASS: type(value).__name__, VALUE: value.name}
        case Fraction() | Decimal():
            return {CLASS: type(value).__name__, VALUE: str(value)}
        case datetime() | date():
            return {CLASS: type(value).__name__, VALUE: value.isoformat()}
        case tuple() | list():
            return [_encoded(each) for each in value]
        case Mapping():
            return {CLASS: "dict", VALUE: {str(k): _encoded(v) for k, v in value.items()}}
        case _ if is_dataclass(value) and type(value).__name__ in CLASSES:
            content = {each.name: _encoded(getattr(value, each.name)) for each in fields(value)}
            return {CLASS: type(value).__name__, VALUE: content}
        case _:
            raise TypeError(f"{type(value).__name__} is not sent to clients")


def _decoded(value: Any) -> Any:  # noqa: PLR0911 - a kind of value each
    if isinstance(value, list):
        return tuple(map(_decoded, value))
    if not isinstance(value, dict):
        return value
    name, content = value[CLASS], value[VALUE]
    if name == "dict":
        return {key: _decoded(each) for key, each in content.items()}
    if name == "Note":
        return Note(content[0], is_printed=bool(content[1]))
    if name in TEXTS:
        return TEXTS[name](content)
    if name in ENUMS:
        return ENUMS[name][content]
    return CLASSES[name](**{key: _decoded(each) for key, each in content.items()})
