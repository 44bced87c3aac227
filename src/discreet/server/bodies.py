"""What calls and replies contain. Unknown fields are rejected."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field

from discreet.errors import ParameterError
from discreet.terms import ExplainTerms, Terms
from discreet.written import WrittenQuery, parameters_from, written

NUMBER = r"^[0-9]{1,30}(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?$|^[0-9]{1,30}/[0-9]{1,30}$"
"""A text that stands for an exact amount. It is short, so that it is not long in memory."""

Amount = Annotated[
    Annotated[float, Field(strict=True)] | Annotated[str, Field(pattern=NUMBER)],
    Field(description="A number, or a text such as 0.1 or 1/3", examples=[0.1, "1/3"]),
]


def exact(amount: object) -> object:
    """Return an amount as it is calculated with: texts as exact fractions."""
    if isinstance(amount, str):
        try:
            return Fraction(amount)
        except ZeroDivisionError:
            raise ParameterError("amount", amount, "must not be divided by 0") from None
    if isinstance(amount, Mapping):
        return {name: exact(each) for name, each in amount.items()}
    return amount


MOST_NUMBER = 2**63 - 1
"""The largest number that a database has."""

NAMES = set(Terms.__annotations__)


class Body(BaseModel):
    """The body of a call."""

    model_config = ConfigDict(extra="forbid", strict=False)


TypedValue = Annotated[
    dict[Literal["date", "timestamp", "decimal"], Annotated[str, Field(max_length=100)]],
    Field(
        min_length=1,
        max_length=1,
        description="A value that JSON has no form for",
        examples=[{"date": "2024-01-31"}],
    ),
]

Value = (
    Annotated[bool, Field(strict=True)]
    | Annotated[int, Field(strict=True)]
    | Annotated[float, Field(strict=True, allow_inf_nan=False)]
    | Annotated[str, Field(strict=True, max_length=100_000)]
    | TypedValue
    | None
)

MostValues = Field(max_length=10_000)
Values = Value | Annotated[list[Value], MostValues]

QueryParameters = Annotated[
    Annotated[list[Values], MostValues]
    | Annotated[dict[Annotated[str, Field(max_length=300)], Values], MostValues],
    Field(examples=[[30, "F"]]),
]
OF_PARAMETERS = (
    "The values of placeholders: a list for ? and $1, an object for :name. A date is "
    '{"date": "2024-01-31"}; there are also timestamp and decimal'
)

QueryDialect = Literal["duckdb", "postgres", "postgresql", "bigquery", "googlesql"]


class QueryBody(Body):
    """A query and what may be stated of it."""

    sql: Annotated[str, Field(max_length=100_000, examples=["SELECT COUNT(*) FROM visits"])]
    epsilon: Amount | None = None
    delta: Amount | None = None
    within: Amount | Mapping[str, Amount] | None = None
    confidence: Amount = 0.95
    find_bounds_of: Annotated[list[str], Field(max_length=100)] = []
    row_choice: Literal["once", "per-query"] | None = None
    groups_per_unit: Annotated[int, Field(ge=1)] | None = None
    parameters: Annotated[QueryParameters | None, Field(description=OF_PARAMETERS)] = None
    dialect: Annotated[QueryDialect | None, Field(description="Of the SQL")] = None

    @property
    def written(self) -> WrittenQuery:
        """The query with all that says what it asks."""
        return written(self.sql, parameters_from(_parameters(self)), self.dialect)

    def terms(self) -> Terms:
        """Return what is stated besides the SQL."""
        return cast("Terms", _terms(self, NAMES))


AMOUNTS = {"epsilon", "delta", "within", "confidence"}


def _terms(body: QueryBody, names: set[str]) -> dict[str, object]:
    content = body.model_dump(include=names)
    terms = {name: exact(each) if name in AMOUNTS else each for name, each in content.items()}
    return terms | {"parameters": parameters_from(_parameters(body))}


def _parameters(body: QueryBody) -> object:
    return body.model_dump(include={"parameters"})["parameters"]


class AskBody(QueryBody):
    """A query to be run."""

    accept_unlikely: Annotated[
        bool, Field(description="Run it even if probably no group would be shown")
    ] = False


class ExplainBody(QueryBody):
    """A query to be explained."""

    sql_for: Annotated[
        Literal["bigquery", "databricks", "snowflake", "trino"] | None,
        Field(description="Shows the generated SQL for this database"),
    ] = None

    def terms(self) -> ExplainTerms:
        """Return what is stated besides the SQL."""
        return cast("ExplainTerms", _terms(self, NAMES | {"sql_for"}))


class CoverageBody(Body):
    """A table whose coverage is to be measured."""

    table: Annotated[str, Field(max_length=1000)]
    epsilon: Amount | None = None
    columns: Annotated[list[str], Field(max_length=1000)] | None = None


class SignInBody(Body):
    """A token, or the one-time code of a link, for a session."""

    token: Annotated[str, Field(max_length=200)] | None = None
    code: Annotated[str, Field(max_length=200)] | None = None


class Place(BaseModel):
    """Where in a query something is wrong. Lines and columns count from 1."""

    line: int
    column: int
    start: int
    end: int


class Fix(BaseModel):
    """A query that would be accepted, and what it does differently."""

    label: str
    sql: str


class ErrorContent(BaseModel):
    """Why a call was rejected."""

    model_config = ConfigDict(extra="allow")

    code: Annotated[str, Field(description="Stays the same in all versions")]
    message: str
    remedy: str
    place: Place | None = None
    fixes: Annotated[list[Fix], Field(description="Only for a query that is explained")] = []


class ErrorReply(BaseModel):
    """The reply to every call that is rejected."""

    error: ErrorContent


class CatalogContent(BaseModel):
    """A catalog that the caller may use."""

    name: str
    role: Literal["reader", "analyst", "owner"]
    who: str


class Me(BaseModel):
    """Who calls."""

    catalogs: list[CatalogContent]


class Health(BaseModel):
    """Whether the server is up."""

    status: Literal["ok", "stopping"]


JsonObject = dict[str, Any]
