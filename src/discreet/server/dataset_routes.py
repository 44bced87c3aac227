"""Routes for adding data: for owners of any catalog, if the administrator has turned it on."""

import asyncio
import re
from collections.abc import Mapping
from datetime import date, datetime
from fractions import Fraction
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request
from pydantic import Field

from discreet.catalog.schema import Kind
from discreet.errors import ParameterError
from discreet.parameters import rational
from discreet.server.audit import logged
from discreet.server.bodies import Amount, Body, JsonObject, exact
from discreet.server.callers import Caller
from discreet.server.data_drafts import Declared, Drafted, draft_of, effects_of
from discreet.server.data_places import DataPlace
from discreet.server.data_sets import AddedDataSet, DataSets, NewDataSet
from discreet.server.reading import OneReading
from discreet.server.signing import any_owner, planned

router = APIRouter(prefix="/v1/datasets", tags=["owners"], route_class=OneReading)

Owner = Annotated[Caller, Depends(any_owner)]
Name = Annotated[str, Field(min_length=1, max_length=300)]
Limit = Annotated[int, Field(ge=1, le=1_000_000)]
Type = Literal[
    "boolean",
    "integer",
    "real",
    "text",
    "date",
    "timestamp",
    "timestamp with time zone",
    "other",
]
Text = Annotated[str, Field(max_length=1000)]
Number = Annotated[float, Field(strict=True)]
End = Annotated[Number | Text, Field(description="A number, or a text such as 0.1 or 2024-12-31")]


class SourceBody(Body):
    """A file, or a table of a PostgreSQL address, as the list of sources has them."""

    file: Name | None = None
    address: Name | None = None
    table: Name | None = None


class ColumnBody(Body):
    """What is public about a column."""

    type: Type
    bounds: Annotated[list[End], Field(min_length=2, max_length=2)] | None = None
    values: Annotated[list[Number | bool | Text], Field(max_length=1000)] | None = None


Columns = Annotated[dict[Name, ColumnBody], Field(max_length=1000)]


class DraftBody(Body):
    """Data whose columns are wanted."""

    source: SourceBody


class EffectsBody(Body):
    """Choices whose effect is wanted."""

    unit: Annotated[Name | None, Field(description="null protects each row")] = None
    rows_per_unit: Limit = 1
    columns: Columns = Field(default_factory=dict)
    epsilon: Amount = 1.0
    delta: Amount = 0.0
    epsilon_each: Annotated[Amount, Field(description="What one query spends")] = 0.2


class DataSetBody(Body):
    """A data set to be added."""

    name: Annotated[str, Field(max_length=64, description="Small letters, digits, - and _")]
    source: SourceBody
    unit: Annotated[Name | None, Field(description="null protects each row")]
    rows_per_unit: Limit = 10
    find_limit: Annotated[
        Amount | None,
        Field(description="Spend this much of the budget to find the best rows_per_unit"),
    ] = None
    columns: Columns = Field(default_factory=dict)
    epsilon: Amount
    delta: Amount = 0.0


def _data_sets(request: Request) -> DataSets:
    found: DataSets = request.app.state.data_sets
    return found


@router.get("/sources")
async def sources(request: Request, _: Owner) -> JsonObject:
    """Return the data that can be added, and whether the administrator has turned this on."""
    data_sets = _data_sets(request)

    def listed() -> JsonObject:
        if not data_sets.is_on:
            return {"is_on": False, "files": [], "addresses": []}
        covered, places = data_sets.covered(), data_sets.places
        files = [
            {"name": label, "in_use": not _place(label, str(path)).marks.isdisjoint(covered)}
            for label, path in places.files().items()
        ]
        return {"is_on": True, "files": files, "addresses": list(places.addresses)}

    return await asyncio.to_thread(listed)


def _place(label: str, source: str) -> DataPlace:
    return DataPlace(label=label, source=source)


@router.post("/draft")
async def draft(request: Request, caller: Owner, body: DraftBody) -> JsonObject:
    """Return names and types of columns. Types of a CSV file are guessed from its first rows."""
    source = body.source

    def drafted() -> JsonObject:
        place = _data_sets(request).place(source.file, source.address, source.table)
        return draft_of(place).to_json()

    return await planned(request, caller, drafted)


@router.post("/effects")
async def effects(request: Request, caller: Owner, body: EffectsBody) -> JsonObject:
    """Return what choices do to margins of error, by formula. Reads no data."""

    def found() -> JsonObject:
        each = _amount("epsilon_each", body.epsilon_each, above=0)
        columns = {name: _column(name, column) for name, column in body.columns.items()}
        if body.unit is not None:
            columns.setdefault(body.unit, {"type": "integer"})
        declared = _declared(body, "data", columns or {"row": {"type": "integer"}})
        return effects_of(declared, each)

    return await planned(request, caller, found)


@router.post("", status_code=201)
async def add(request: Request, caller: Owner, body: DataSetBody) -> JsonObject:
    """Add a data set and open it. You become its owner, with the token or sign-in that you have."""
    data_sets, source = _data_sets(request), body.source

    def added() -> JsonObject:
        place = data_sets.place(source.file, source.address, source.table)
        drafted = draft_of(place)
        columns = _all_columns(drafted, body.columns)
        declared = _declared(body, drafted.table, columns)
        find = None if body.find_limit is None else _amount("find_limit", body.find_limit, above=0)
        if find is not None and find >= declared.epsilon:
            rule = "must be less than epsilon, the budget that it is spent from"
            raise ParameterError("find_limit", find, rule)
        new = NewDataSet(name=body.name, place=place, declared=declared, find=find)
        return _shown(data_sets.add(caller, new))

    async with data_sets.turn:
        # It is logged where the caller is an owner already.
        return await asyncio.to_thread(
            lambda: logged(caller, "add_data", added, data_set=body.name[:64])
        )


def _shown(added: AddedDataSet) -> JsonObject:
    told: JsonObject = {
        "name": added.site.name,
        "rows_per_unit": added.rows_per_unit,
        "remaining": added.site.curator.remaining.to_json(),
        "found": None,
    }
    measured = added.measured
    if measured is not None:
        limits = sorted({*LIMITS, added.rows_per_unit or 1})
        shares = {limit: measured.rows_at(limit) for limit in limits}
        told["found"] = {
            "is_found": added.is_found,
            "spent": measured.price.to_json(),
            "shares": [
                {"rows_per_unit": limit, **share.to_json()}
                for limit, share in shares.items()
                if share is not None
            ],
        }
    return told


LIMITS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60)
"""Limits whose share of rows is shown, out of a release that was charged."""


# --------------------------------------------------------------------------- what is declared


def _declared(
    body: DataSetBody | EffectsBody, table: str, columns: Mapping[str, Mapping[str, object]]
) -> Declared:
    return Declared(
        table=table,
        unit=body.unit,
        rows_per_unit=body.rows_per_unit,
        columns=columns,
        epsilon=_amount("epsilon", body.epsilon, above=0),
        delta=_amount("delta", body.delta, least=0),
    )


def _amount(name: str, given: object, **limits: int) -> Fraction:
    return rational(name, exact(given), **limits)


def _all_columns(
    drafted: Drafted, given: Mapping[str, ColumnBody]
) -> dict[str, Mapping[str, object]]:
    """Return every column of the data with its type, so that no type is guessed from values."""
    known = {each.name: each.kind for each in drafted.columns}
    for name in given:
        if name not in known:
            raise ParameterError(f"columns.{name}", name, "must be a column of the data")
    return {
        name: _column(name, given[name] if name in given else ColumnBody(type=kind.value))
        for name, kind in known.items()
        if kind is not Kind.OTHER
    }


def _column(name: str, column: ColumnBody) -> dict[str, object]:
    """Return a column as a catalog has it."""
    found: dict[str, object] = {"type": column.type}
    for setting, given in (("bounds", column.bounds), ("values", column.values)):
        if given is not None:
            where = f"columns.{name}.{setting}"
            found[setting] = [_value(where, column.type, each) for each in given]
    return found


NUMERAL = re.compile(
    r"\s*[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?\s*|\s*[+-]?[0-9]+/[0-9]+\s*"
)
"""A number as a text. Its exponent is short, so that the number is not long in memory."""


def _value(where: str, kind: str, given: object) -> Any:
    """Return a value of a column's type from what JSON has for it."""
    try:
        match kind, given:
            case ("date", str()):
                return date.fromisoformat(given)
            case ("timestamp" | "timestamp with time zone", str()):
                return datetime.fromisoformat(given)
            case ("text", str()) | ("boolean", bool()):
                return given
            case ("integer" | "real", int() | float() | str()) if NUMERAL.fullmatch(str(given)):
                number = Fraction(str(given))
                return int(number) if kind == "integer" and number.denominator == 1 else number
    except (ValueError, ZeroDivisionError, OverflowError):
        pass
    raise ParameterError(where, given, f"must be of the type {kind}")
