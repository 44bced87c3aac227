"""A data set before it is opened: its schema, what is declared of it, what that does to errors.

Nothing here looks at values, except that types of a CSV file are guessed from its first rows.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.catalog.columns import ROW, written_unit
from discreet.catalog.declaration import declaration_from
from discreet.catalog.entries import written_key, written_text
from discreet.catalog.schema import Column
from discreet.catalog.toml import written_number, written_value
from discreet.catalog.unit_names import is_identifier, unit_guess
from discreet.errors import CatalogError, DiscreetError
from discreet.mechanisms.geometric import Geometric
from discreet.opening import open_unplugged, read_columns, read_server_columns, rows_guessed_from
from discreet.server.data_places import DataPlace
from discreet.server.faults import CallError
from discreet.server.sites import CATALOG_FILE

log = logging.getLogger("discreet.server")

UNREADABLE = CallError(
    status=422,
    code="unreadable_data",
    what="These data cannot be read as a table",
    fix="Ask the administrator: the log of the server has the reason",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What an owner declares of a data set of one table."""

    table: str
    unit: str | None
    """The column that identifies whom the data set protects; None protects each row."""
    rows_per_unit: int
    columns: Mapping[str, Mapping[str, object]]
    """By name: type, bounds, values, as a catalog has them."""
    epsilon: Fraction
    delta: Fraction

    def sections(self, source: str, engine: str | None = None) -> dict[str, Any]:
        """Return the entries of the catalog."""
        unit = ROW if self.unit is None else written_unit(self.unit)
        limit = {} if self.unit is None else {"rows_per_unit": self.rows_per_unit}
        table = {"from": source, "unit": unit, **limit, "columns": dict(self.columns)}
        return {
            "budget": {"epsilon": self.epsilon, "delta": self.delta},
            **({} if engine is None else {"source": {"engine": engine}}),
            "tables": {self.table: table},
        }


@contextmanager
def catalog_checks() -> Iterator[None]:
    """Tell what is wrong with a catalog as what is wrong with a call; it names the entry."""
    try:
        yield
    except CatalogError as error:
        raise CallError(
            status=422, code="invalid_catalog", what=error.what, fix=error.fix
        ) from None


# --------------------------------------------------------------------------- the file


def text_of(sections: Mapping[str, Any]) -> str:
    """Return a catalog of one table as the text of a `discreet.toml`."""
    lines = ["# Added on the page. Everything in this file is public.", "", "[budget]"]
    lines += [f"{name} = {written_number(each)}" for name, each in sections["budget"].items()]
    if "source" in sections:
        lines += ["", "[source]", f"engine = {written_text(sections['source']['engine'])}"]
    for name, table in sections["tables"].items():
        lines += ["", f"[tables.{written_key(name)}]"]
        lines += [f"{key} = {_written(each)}" for key, each in table.items() if key != "columns"]
        lines += ["", f"[tables.{written_key(name)}.columns]"]
        lines += [
            f"{written_key(key)} = {_written(each)}" for key, each in table["columns"].items()
        ]
    return "\n".join(lines) + "\n"


def _written(value: object) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{name} = {_written(each)}' for name, each in value.items())} }}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(_written, value))}]"
    return written_number(value) if isinstance(value, Fraction) else written_value(value)  # type: ignore[arg-type]


# --------------------------------------------------------------------------- schemas and effects


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafted:
    """The schema of data, as a first draft of their catalog."""

    table: str
    columns: tuple[Column, ...]
    guessed_from: int | None
    """The rows of a CSV file that types were guessed from; None if the data have types."""

    @property
    def unit(self) -> str | None:
        """The column that most likely identifies people, by its name alone."""
        return unit_guess(self.table, self.columns)

    def to_json(self) -> dict[str, object]:
        """Return it as a reply has it."""
        return {
            "table": self.table,
            "columns": [
                {
                    "name": each.name,
                    "type": each.kind.value,
                    "is_identifier": is_identifier(each.name),
                }
                for each in self.columns
            ],
            "unit": self.unit,
            "guessed_from": self.guessed_from,
        }


def draft_of(place: DataPlace) -> Drafted:
    """Return names and types of columns. Of a CSV file, only the first rows are read."""
    try:
        if place.engine is None:
            found, guessed = read_columns(place.source), rows_guessed_from(place.source)
        else:
            found, guessed = read_server_columns(place.engine, [place.source]), None
    except DiscreetError as error:
        log.warning("columns could not be read: %s", type(error).__name__)
        log.info("why columns could not be read", exc_info=error)
        raise UNREADABLE from None
    ((table, columns),) = found.items()
    return Drafted(table=table, columns=columns, guessed_from=guessed)


MOST_LIMIT = 60
"""The largest limit for which noise is listed beside others."""

MOST_COLUMNS = 12
"""So many columns are explained."""

NUMBERS = ("integer", "real")


def effects_of(declared: Declared, each: Fraction) -> dict[str, object]:
    """Return what choices do to margins of error and to the number of queries. Reads no data.

    It is what an explanation of a query on such a catalog says, at an epsilon for each query.
    """
    sections = declared.sections("data.csv")
    with catalog_checks():
        curator = open_unplugged(CATALOG_FILE, declared=declaration_from(sections))
    numbers = [
        name
        for name, column in declared.columns.items()
        if column.get("type") in NUMBERS and "bounds" in column
    ][:MOST_COLUMNS]
    table = _quoted(declared.table)
    with closing(curator):

        def margin(statistic: str) -> str:
            sql = f"SELECT {statistic} AS n FROM {table}"  # noqa: S608 - names are quoted
            (column,) = curator.explain(sql, epsilon=each).columns
            return column.margin_text

        return {
            "epsilon_each": float(each),
            "queries": int(declared.epsilon / each),
            "count": margin("COUNT(*)"),
            "columns": [
                {
                    "name": name,
                    "average": margin(f"AVG({_quoted(name)})"),
                    "sum": margin(f"SUM({_quoted(name)})"),
                }
                for name in numbers
            ],
            "by_limit": _by_limit(declared, each),
        }


def _by_limit(declared: Declared, each: Fraction) -> list[dict[str, int]]:
    """Return the margin of error of a count for limits from 1 on; nothing if rows are units."""
    if declared.unit is None:
        return []
    limits = range(1, MOST_LIMIT + 1)
    return [
        {
            "rows_per_unit": limit,
            "margin": Geometric(epsilon=each, sensitivity=limit).margin(Fraction(95, 100)),
        }
        for limit in limits
    ]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
