"""What calls of tools contain."""

from typing import Annotated

from pydantic import BaseModel, Field

from discreet.server.bodies import (
    MOST_NUMBER,
    OF_PARAMETERS,
    Amount,
    QueryDialect,
    QueryParameters,
)

Sql = Annotated[
    str, Field(max_length=100_000, description="One SELECT statement over the tables of `tables`")
]
Epsilon = Annotated[
    Amount | None, Field(description="ε to spend, such as 0.1. Less means more noise")
]
Within = Annotated[
    Amount | dict[str, Amount] | None,
    Field(description="Margin of error you need, for all columns or by name; needs max_epsilon"),
]
MostEpsilon = Annotated[
    Amount | None, Field(description="With within: the most ε to spend. Rejected if it costs more")
]
Delta = Annotated[Amount | None, Field(description="δ to spend, if other than 1% of the total")]
Confidence = Annotated[Amount, Field(description="Confidence of margins of error")]
FindBoundsOf = Annotated[
    list[str],
    Field(max_length=100, description="Columns, as visits.cost, whose bounds are found privately"),
]
GroupsPerUnit = Annotated[
    int | None, Field(ge=1, description="The most groups that each privacy unit is counted in")
]
Parameters = Annotated[QueryParameters | None, Field(description=OF_PARAMETERS)]
Dialect = Annotated[QueryDialect | None, Field(description="Of the SQL. Default: duckdb")]
AcceptUnlikely = Annotated[
    bool, Field(description="Run it even if probably no group would be shown")
]
Rows = Annotated[int, Field(ge=1, le=100_000, description="The most rows to return")]
Before = Annotated[
    int | None, Field(ge=1, le=MOST_NUMBER, description="Only entries with a smaller number")
]
Limit = Annotated[int, Field(ge=1, le=1000, description="The most entries to return")]


class Confirmation(BaseModel):
    """What a person answers."""

    confirm: Annotated[bool, Field(description="Spend this on the query")]
