"""What a catalog declares, as JSON and in words: no address, no path and nothing of the data."""

from collections.abc import Iterator

from discreet.answer.columns import json_value
from discreet.catalog import Catalog
from discreet.catalog.schema import (
    Auto,
    Bounds,
    Column,
    ColumnUnit,
    Kind,
    PathUnit,
    PrivateTable,
    PublicTable,
    RowUnit,
    Table,
)
from discreet.catalog.shown import end_text, unit_text
from discreet.catalog.time_steps import time_step_text
from discreet.errors import readable
from discreet.explanation.months import first_months, used_months, without_month


def schema_of(catalog: Catalog) -> dict[str, object]:
    """Return tables, columns and what the owner promises about any one person."""
    return {
        "tables": [_table(each, catalog) for each in catalog.tables],
        "neighbours": catalog.budget.neighbours.value,
        "promise": PROMISES[catalog.budget.neighbours.value]
        if catalog.budget.per is None
        else PER_MONTH.format("all used rows" if catalog.budget.months_per_unit else "all rows"),
    }


PROMISES = {
    "add-remove": "Every answer is almost as likely if all rows of any one of them are "
    "removed or added",
    "replace": "Every answer is almost as likely if all rows of any one of them are "
    "replaced by others",
}

PER_MONTH = (
    "Every answer is almost as likely if {} of any one of them that arrived in one month are "
    "removed or added"
)


def _table(table: Table, catalog: Catalog) -> dict[str, object]:
    told: dict[str, object] = {
        "name": table.name,
        "protects": unit_text(table),
        "is_private": isinstance(table, PrivateTable),
        "columns": [_column(each, table, catalog) for each in table.columns],
        "key": table.key,
    }
    if isinstance(table, PrivateTable):
        told |= {
            "rows_per_unit": table.rows_per_unit,
            "unit": _unit_name(table, catalog),
            "limits": list(_limits(table, catalog)),
            **({"is_by_month": True} if table.is_by_month else {}),
        }
    return told


def _unit_name(table: PrivateTable, catalog: Catalog) -> str:
    """Return what identifies who is protected: a column, or "row"."""
    owner = (table, *catalog.parents(table))[-1]
    return owner.unit.column if isinstance(owner.unit, ColumnUnit) else "row"


def _limits(table: PrivateTable, catalog: Catalog) -> Iterator[str]:
    """Yield what one person can change, in sentences."""
    unit = _unit_name(table, catalog)
    counted = f"{unit} and month" if table.is_by_month else unit
    match table.unit:
        case RowUnit():
            yield "Each row is protected on its own."
        case PathUnit(column=column, table=other):
            yield f"{column} leads to {other}: a row belongs to the {unit} of its row there."
            yield _rows(table, unit)
        case ColumnUnit():
            yield _rows(table, counted)
            yield f"Rows where {unit} is NULL are left out."
            yield from _months(table, unit)
    match table.groups_per_unit:
        case int() as most:
            yield f"Each {counted} is counted in at most {most} groups of a query."
        case tuple() as limits:
            for column, most in limits:
                yield f"Each {counted} is counted in at most {most} groups by {column}."


def _months(table: PrivateTable, unit: str) -> Iterator[str]:
    if table.by_month is not None:
        yield f"Rows where {without_month(table.by_month)} are left out."
        if table.by_month.most is not None:
            used = first_months(table.by_month.most)
            yield f"Only rows of the {used} in which a {unit} has any are used."


def _rows(table: PrivateTable, unit: str) -> str:
    most = table.rows_per_unit
    return f"At most {most:,} {'row' if most == 1 else 'rows'} of each {unit} {_is(most)} used."


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def _column(column: Column, table: Table, catalog: Catalog) -> dict[str, object]:
    told: dict[str, object] = {"name": column.name, "type": column.kind.value}
    if isinstance(column.bounds, Bounds):
        told["bounds"] = [
            end_text(column, each) for each in (column.bounds.low, column.bounds.high)
        ]
    if isinstance(column.bounds, Auto):
        told["bounds"] = "auto"
    if column.values is not None:
        told["values"] = [json_value(each) for each in column.values]
    if isinstance(table, PrivateTable):
        told["words"] = list(_roles(column, table, catalog)) or list(_words(column, table))
    return told


def _roles(column: Column, table: PrivateTable, catalog: Catalog) -> Iterator[str]:
    """Yield what a column identifies, in sentences."""
    name = column.name.casefold()
    if isinstance(table.unit, ColumnUnit) and table.unit.column.casefold() == name:
        yield f"Identifies who is protected. COUNT(DISTINCT {column.name}) counts them."
    elif table.key is not None and table.key.casefold() == name:
        yield "Identifies a row."
    for each in catalog.tables:
        key = each.key if isinstance(each, PublicTable) else None
        if key is not None and key.casefold() == name:
            yield f"Refers to {each.name}, which is public: JOIN {each.name} USING ({column.name})."


def _words(column: Column, table: PrivateTable) -> Iterator[str]:
    """Yield what the declaration of a column does to answers, in sentences."""
    match column.bounds:
        case Bounds(low=low, high=high) if column.kind.is_number:
            first, last = (end_text(column, each) for each in (low, high))
            yield f"Values below {first} count as {first}, values above {last} as {last}."
        case Bounds() if column.kind is Kind.DATE:
            yield "Grouped by week or month, all groups are shown. Dates outside are left out."
        case Auto():
            yield "Bounds are found privately when a query first needs them. This costs ε."
        case None:
            if column.kind.is_number:
                yield f"No bounds. Sums need a range: SUM(CLAMP({column.name}, 0, 100))."
    yield from _step_words(column)
    if column.values is not None:
        yield "All groups are shown, even empty ones. Other values are left out."
    elif column.kind.value == "text":
        yield "Values are not declared: rare ones stay hidden when you group by it."
        if table.is_by_month and used_months(table) != 1:
            yield "A value of one person in many months is not rare: it can be shown."
    if column.nulls:
        yield "May be NULL, which is a group of its own."


def _step_words(column: Column) -> Iterator[str]:
    if column.step is not None:
        yield f"In steps of {readable(column.step)}."
    if column.time_step is not None:
        step = time_step_text(column.time_step)
        yield f"Times of dashboards are rounded down to multiples of {step}."
