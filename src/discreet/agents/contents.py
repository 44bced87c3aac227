"""What tools return, as typed values: clients get a schema, and models get names for everything.

Only what a server would send is in them. Control characters of names and values are escaped, so
that a text from the catalog or from a group is data on any screen.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, Field

from discreet.answer.columns import unlike
from discreet.errors import without_commands
from discreet.server.bodies import JsonObject

Cell: TypeAlias = str | int | float | bool | list[Any] | None


class Content(BaseModel):
    """A part of a result."""


class Cost(Content):
    """An amount of budget."""

    epsilon: float
    delta: float = 0.0


class RemainingBudget(Content):
    """What remains of a budget, and its total."""

    epsilon: float
    total_epsilon: float
    delta: float = 0.0
    total_delta: float = 0.0
    rho: Annotated[
        float | None, Field(description="With concentrated accounting: ρ, which may last longer")
    ] = None
    total_rho: float | None = None


# --------------------------------------------------------------------------- tables


class TableColumn(Content):
    """A column of a table, as the catalog declares it."""

    name: str
    type: str
    bounds: Annotated[list[str] | str | None, Field(description="Lowest and highest value")] = None
    values: Annotated[list[Cell] | None, Field(description="All declared values")] = None
    notes: list[str] = []


class DeclaredTable(Content):
    """A table, as the catalog declares it."""

    name: str
    is_private: bool
    protects: Annotated[str, Field(description="Whom the noise protects")]
    unit: Annotated[str | None, Field(description="The column of the privacy unit")] = None
    rows_per_unit: int | None = None
    key: str | None = None
    limits: list[str] = []
    is_by_month: Annotated[
        bool, Field(description="Whether queries are charged to the months that they read")
    ] = False
    columns: list[TableColumn]


class Tables(Content):
    """All tables that can be asked about."""

    tables: list[DeclaredTable]
    promise: str


def tables_from(schema: JsonObject) -> Tables:
    """Return the tables of a schema."""
    told = inert(schema)
    return Tables(
        tables=[
            DeclaredTable(
                **{**each, "columns": [_column(column) for column in each["columns"]]},
            )
            for each in told["tables"]
        ],
        promise=told["promise"],
    )


def _column(column: JsonObject) -> TableColumn:
    bounds = column.get("bounds")
    return TableColumn(
        name=column["name"],
        type=column["type"],
        bounds=[str(each) for each in bounds] if isinstance(bounds, list) else bounds,
        values=column.get("values"),
        notes=column.get("words", []),
    )


# --------------------------------------------------------------------------- a preview


class PreviewedColumn(Content):
    """A column of the answer, before it is asked for."""

    name: str
    statistic: str
    margin: Annotated[float | None, Field(description="Margin of error, if it is one number")]
    margin_text: str
    epsilon: Annotated[float, Field(description="This column's part of the cost")]
    noise: str


class Explained(Content):
    """What a query would cost and how accurate its answer would be. Nothing was spent."""

    cost: Cost
    due: Annotated[Cost, Field(description="What asking it now would spend: 0 if it is saved")]
    remaining: RemainingBudget | None
    months: Annotated[
        str | None,
        Field(description="The months that it is charged to, if the budget is per month"),
    ] = None
    protects: Annotated[
        str | None, Field(description="What the noise protects, if the budget is per month")
    ] = None
    needs_confirmation: Annotated[
        bool, Field(description="Whether a person must confirm this query before it runs")
    ] = False
    confidence: float
    columns: list[PreviewedColumn]
    groups: list[str]
    limits: list[str]
    left_out: list[str]
    warnings: list[str]
    hints: list[str]


def explained_from(found: JsonObject) -> Explained:
    """Return the preview of a query."""
    told = inert(found)
    return Explained(
        cost=cost_from(told["price"]),
        due=cost_from(told["due"] or told["price"]),
        remaining=None if told["remaining"] is None else remaining_from(told["remaining"]),
        months=told.get("months"),
        protects=told.get("protects"),
        confidence=told["confidence"],
        columns=[
            PreviewedColumn(
                name=each["name"],
                statistic=each["statistic"],
                margin=each["margin"],
                margin_text=each["spread"],
                epsilon=each["epsilon"],
                noise=each["noise"],
            )
            for each in told["columns"]
        ],
        groups=told["keys"],
        limits=[*told["first"], *told["bounding"]],
        left_out=told["left_out"],
        warnings=told["warnings"],
        hints=[*told["hints"], *([told["later"]] if told["later"] else [])],
    )


# --------------------------------------------------------------------------- an answer


class Estimate(Content):
    """A number with noise. The exact number is between low and high at the stated confidence."""

    value: Cell
    margin: Annotated[float | None, Field(description="Margin of error")] = None
    low: Cell = None
    high: Cell = None


class AnsweredColumn(Content):
    """A column of an answer. Only an estimate has a margin of error."""

    name: str
    role: Annotated[str, Field(description="key, estimate or value")]
    type: str


class Answered(Content):
    """An answer: noisy numbers, how accurate they are, and what they cost."""

    id: Annotated[str, Field(description="The resource discreet://answers/{id} has it again")]
    columns: list[AnsweredColumn]
    rows: list[dict[str, Estimate | Cell]]
    rows_left_out: Annotated[
        int, Field(description="Rows of the answer that are not shown here; the resource has all")
    ] = 0
    confidence: float
    cost: Annotated[Cost, Field(description="What this call spent")]
    remaining: RemainingBudget
    from_ledger: Annotated[bool, Field(description="Whether it was saved, so this was free")]
    notes: list[str]


def answered_from(id_: str, found: JsonObject, most: int | None = None) -> Answered:
    """Return an answer with its first rows, or with all."""
    told = inert(found)
    rows = told["rows"] if most is None else told["rows"][:most]
    names = unlike([each["name"] for each in told["columns"]])
    read_as = [_Reading(found, each["name"]) for each in found["columns"]]
    return Answered(
        id=id_,
        columns=[
            AnsweredColumn(**{**each, "name": name})
            for each, name in zip(told["columns"], names, strict=True)
        ],
        rows=[
            {name: read_as[i].cell(number, row[i]) for i, name in enumerate(names)}
            for number, row in enumerate(rows)
        ],
        rows_left_out=len(told["rows"]) - len(rows),
        confidence=told["confidence"],
        cost=cost_from(told["charged"]),
        remaining=remaining_from(told["remaining"]),
        from_ledger=told["was_kept"],
        notes=told["notes"],
    )


class _Reading:
    """How a column is read: with its margins or intervals, which an answer has by its own name."""

    def __init__(self, found: JsonObject, name: str) -> None:
        self._intervals = inert(found["intervals"].get(name))
        self._margins = found["errors"].get(name)

    def cell(self, number: int, value: Any) -> Estimate | Cell:
        """Return a value, with its margin or interval if it has one."""
        if self._intervals is not None:
            low, high = self._intervals[number] or (None, None)
            return Estimate(value=value, low=low, high=high)
        if self._margins is None:
            return value  # type: ignore[no-any-return]
        margin = self._margins[number]
        if margin is None or not isinstance(value, int | float):  # a date is a text
            return Estimate(value=value, margin=margin)
        return Estimate(value=value, margin=margin, low=value - margin, high=value + margin)


# --------------------------------------------------------------------------- budget and history


class EnoughFor(Content):
    """How many queries of an epsilon fit at least."""

    epsilon: float
    queries: int


class MonthsBudget(RemainingBudget):
    """What remains for some months."""

    months: str


class AccountBudget(Content):
    """What remains for this account and in total."""

    account: str
    remaining: Annotated[
        RemainingBudget, Field(description="If the budget is per month: the least of any month")
    ]
    total: Annotated[RemainingBudget, Field(description="Of all accounts together")]
    months: Annotated[
        list[MonthsBudget], Field(description="What remains for each month, if it is per month")
    ] = []
    enough_for: list[EnoughFor]
    per_query: Annotated[float | None, Field(description="The most ε that a query may cost")] = None
    per_day: Annotated[
        float | None, Field(description="The most ε that may be spent in a day, by UTC")
    ] = None
    remaining_today: float | None = None
    confirm_above: Annotated[
        float | None, Field(description="A person confirms a query that costs more")
    ] = None
    session_remaining: Annotated[
        float | None, Field(description="What this program may still spend, if that is limited")
    ] = None


LIMITS = ("per_query", "per_day", "remaining_today", "confirm_above")
"""Limits of an account that an agent sees."""


def budget_from(found: JsonObject) -> AccountBudget:
    """Return what remains."""
    told = inert(found)
    return AccountBudget(
        account=told["account"],
        remaining=remaining_from(told["remaining"]),
        total=remaining_from(told["total"]),
        months=[_months_budget(each) for each in told.get("months", ())],
        enough_for=[EnoughFor(**each) for each in told["enough_for"]],
        **{name: (told.get("limits") or {}).get(name) for name in LIMITS},
    )


def _months_budget(told: JsonObject) -> MonthsBudget:
    return MonthsBudget.model_validate({name: told.get(name) for name in MonthsBudget.model_fields})


class HistoryEntry(Content):
    """A query of this account, and how it ended."""

    number: int
    written: Annotated[str, Field(description="When, in UTC")]
    action: str
    outcome: Annotated[str, Field(description="charged, free, repeated, or why it was rejected")]
    sql: str | None = None
    epsilon: float | None = None
    delta: float | None = None
    answer: Annotated[str | None, Field(description="The id of the answer")] = None


class History(Content):
    """Queries of this account, the newest first."""

    entries: list[HistoryEntry]


def history_from(found: JsonObject) -> History:
    """Return past queries."""
    return History(entries=[_entry(each) for each in inert(found)["entries"]])


def _entry(told: JsonObject) -> HistoryEntry:
    return HistoryEntry(
        number=told["number"],
        written=told["written"],
        action=told["action"],
        outcome=told["outcome"],
        sql=told.get("sql") or told.get("table"),
        epsilon=_amount(told.get("epsilon")),
        delta=_amount(told.get("delta")),
        answer=told.get("answer"),
    )


# --------------------------------------------------------------------------- parts


def _amount(text: str | None) -> float | None:
    """Return an amount that the log has as an exact text such as 1/3."""
    if text is None:
        return None
    above, _, below = text.partition("/")
    return int(above) / int(below or 1)


def cost_from(told: Mapping[str, Any]) -> Cost:
    """Return an amount of budget."""
    return Cost(epsilon=told["epsilon"], delta=told["delta"])


def remaining_from(told: Mapping[str, Any]) -> RemainingBudget:
    """Return what remains of a budget."""
    return RemainingBudget.model_validate(
        {name: told.get(name) for name in RemainingBudget.model_fields}
    )


def inert(value: Any) -> Any:
    """Return JSON in which control characters of all texts are escapes."""
    if isinstance(value, str):
        return without_commands(value)
    if isinstance(value, Mapping):
        return {without_commands(str(name)): inert(each) for name, each in value.items()}
    return [inert(each) for each in value] if isinstance(value, Sequence) else value
