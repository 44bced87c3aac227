"""Catalogs from files: what is read, and what is refused by file and line."""

from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.catalog import (
    AUTO,
    AnalystPolicy,
    Bounds,
    Catalog,
    Column,
    ColumnUnit,
    Kind,
    PathUnit,
    PrivateTable,
    PublicTable,
    RowUnit,
    SourcePolicy,
    catalog_from,
    load,
)
from discreet.catalog.catalog import column_of
from discreet.catalog.resolve import read, resolve
from discreet.catalog.schema import number_from_time
from discreet.errors import CatalogError

DESIGN = """\
[budget]
epsilon = 3.0
delta = 1e-6
neighbours = "add-remove"

[source]
engine = "duckdb"

[tables.visits]
from = "visits.parquet"
unit = "patient_id"                   # or unit = "row"; or a path
rows_per_unit = 10

[tables.visits.columns]
age    = { bounds = [0, 120] }
spend  = { bounds = [0, 500], step = 0.01 }
region = { values = ["north", "south", "east", "west"] }
day    = { bounds = [2024-01-01, 2024-12-31] }

[tables.regions]
from = "regions.csv"
public = true

[analysts.eve]
epsilon = 1.0
"""

SCHEMA = {
    "visits": {
        "visit_id": Kind.INTEGER,
        "patient_id": Kind.INTEGER,
        "Age": Kind.INTEGER,
        "spend": Kind.REAL,
        "region": Kind.TEXT,
        "day": Kind.DATE,
    },
    "regions": {"region": Kind.TEXT},
}


def columns_of(table: str) -> tuple[Column, ...]:
    return tuple(Column(name=name, kind=kind) for name, kind in SCHEMA[table].items())


def column(catalog: Catalog, table: str, name: str) -> Column:
    owner = catalog.table(table)
    assert owner is not None
    found = column_of(owner, name)
    assert found is not None
    return found


def private(catalog: Catalog, name: str) -> PrivateTable:
    table = catalog.table(name)
    assert isinstance(table, PrivateTable)
    return table


def written(folder: Path, text: str) -> Path:
    path = folder / "discreet.toml"
    path.write_text(text, encoding="utf-8")
    return path


# --------------------------------------------------------------------------- what is read


def test_the_design_s_example_loads(tmp_path: Path) -> None:
    catalog = load(written(tmp_path, DESIGN), columns_of)
    assert catalog.budget.epsilon == 3
    assert catalog.budget.delta == Fraction(1, 10**6)
    assert catalog.source == SourcePolicy(engine="duckdb")
    assert catalog.analysts == (AnalystPolicy(name="eve", epsilon=Fraction(1)),)
    assert catalog.sources == {
        "visits": str(tmp_path / "visits.parquet"),
        "regions": str(tmp_path / "regions.csv"),
    }
    visits = private(catalog, "visits")
    assert visits.unit == ColumnUnit(column="patient_id")
    assert (visits.rows_per_unit, visits.is_default_limit) == (10, False)
    assert column(catalog, "visits", "spend").step == Fraction(1, 100)
    assert column(catalog, "visits", "region").values == ("north", "south", "east", "west")
    assert isinstance(catalog.table("regions"), PublicTable)


def test_facts_are_laid_over_the_schema_in_its_spelling_and_order(tmp_path: Path) -> None:
    catalog = load(written(tmp_path, DESIGN), columns_of)
    assert [each.name for each in private(catalog, "visits").columns] == list(SCHEMA["visits"])
    age = Column(name="Age", kind=Kind.INTEGER, bounds=Bounds(low=Fraction(0), high=Fraction(120)))
    assert column(catalog, "visits", "age") == age


def test_dates_are_days_and_a_day_that_ends_timestamps_is_meant_to_its_end() -> None:
    facts = {"bounds": [date(2024, 1, 1), date(2024, 1, 2)]}
    days, moments = (
        catalog_from(one_column({"type": kind, **facts})) for kind in ("date", "timestamp")
    )
    first = number_from_time(date(2024, 1, 1))
    assert column(days, "t", "x").bounds == Bounds(low=first, high=first + 1)
    day = 24 * 60 * 60 * 10**6
    assert column(moments, "t", "x").bounds == Bounds(low=first * day, high=(first + 2) * day - 1)


def one_column(facts: dict[str, object]) -> dict[str, object]:
    table = {"unit": "id", "columns": {"id": {"type": "integer"}, "x": facts}}
    return {"budget": {"epsilon": 1}, "tables": {"t": table}}


def test_numbers_mean_what_is_written() -> None:
    bounds = column(catalog_from(one_column({"type": "real", "bounds": [0.1, "1/3"]})), "t", "x")
    assert bounds.bounds == Bounds(low=Fraction(1, 10), high=Fraction(1, 3))


def test_a_limit_that_is_not_declared_is_said_to_be_the_default() -> None:
    table = private(catalog_from(one_column({"type": "real", "bounds": "AUTO"})), "t")
    assert (table.rows_per_unit, table.is_default_limit) == (10, True)
    assert table.columns[1].bounds is AUTO


def test_a_row_that_is_a_unit_has_one_row() -> None:
    entries = {"unit": "row", "columns": {"x": {"type": "text"}}}
    table = private(catalog_from({"budget": {"epsilon": 1}, "tables": {"t": entries}}), "t")
    assert table.unit == RowUnit()
    assert (table.rows_per_unit, table.is_default_limit) == (1, False)


@pytest.mark.parametrize(
    ("unit", "key", "path"),
    [
        ("visits.patient_id via visit_id", None, ("visit_id", "visits", "visit_id")),
        ("Visits.Patient_ID via visit_id", None, ("visit_id", "visits", "visit_id")),
        ("visits.patient_id", "visit_id", ("visit_id", "visits", "visit_id")),
        ("visits.patient_id via drug", "name", ("drug", "visits", "name")),
    ],
)
def test_a_path_finds_both_of_its_columns(
    unit: str, key: str | None, path: tuple[str, str, str]
) -> None:
    text = {"type": "text"}
    visits: dict[str, object] = {
        "unit": "patient_id",
        "columns": {"visit_id": text, "patient_id": text, "name": text},
    }
    doses = {"unit": unit, "columns": {"visit_id": text, "drug": text}}
    tables = {"doses": doses, "visits": visits | ({"key": key} if key else {})}
    catalog = catalog_from({"budget": {"epsilon": 1}, "tables": tables})
    column, table, key = path
    assert private(catalog, "doses").unit == PathUnit(column=column, table=table, key=key)


def test_names_in_quotes_may_hold_anything() -> None:
    columns = {"row": {"type": "text"}, 'a "b".c': {"type": "text"}}
    for unit, name in (('"row"', "row"), ('"a ""b"".c"', 'a "b".c')):
        tables = {"t": {"unit": unit, "columns": columns}}
        catalog = catalog_from({"budget": {"epsilon": 1}, "tables": tables})
        assert private(catalog, "t").unit == ColumnUnit(column=name)


def test_reading_a_catalog_needs_no_data(tmp_path: Path) -> None:
    declared = read(written(tmp_path, DESIGN))
    assert declared.sources["regions"] == str(tmp_path / "regions.csv")
    assert resolve(declared, columns_of) == load(tmp_path / "discreet.toml", columns_of)


# --------------------------------------------------------------------------- what is refused

BUDGET = "[budget]\nepsilon = 1\n"
TABLE = BUDGET + '[tables.visits]\nunit = "id"\n'
COLUMNS = TABLE + '[tables.visits.columns]\nid = { type = "integer" }\n'

REFUSED = [
    # text, line, what the sentence says
    ("[budget]\nepsilom = 1\n", 2, "Unknown setting budget.epsilom"),
    ("[budget]\nepsilom = 1\n", 2, "Did you mean epsilon? Settings in [budget]: epsilon, delta"),
    ("[budgets]\nepsilon = 1\n", 1, "Unknown setting budgets"),
    (COLUMNS + "age = { bound = [0, 1] }", 7, "Unknown setting tables.visits.columns.age.bound "),
    (COLUMNS + "age.bound = [0, 1]", 7, "Did you mean bounds?"),
    (TABLE + "groups = 3", 5, "Unknown setting tables.visits.groups"),
    ("budget.epsilon = 0\n", 1, "budget.epsilon must be a number from 1e-12 to 1e12, not 0"),
    ("[budget]\n\n# hm\nepsilon = -1", 4, "budget.epsilon must be"),
    ("[budget]\nepsilon = nan", 2, "budget.epsilon must be a finite number, not NaN"),
    ("[budget]\nepsilon = inf", 2, "budget.epsilon must be a finite number, not Infinity"),
    ("[budget]\nepsilon = 1e-300", 2, "budget.epsilon must be"),
    ("[budget]\nepsilon = 1e300", 2, "budget.epsilon must be"),
    ("[budget]\nepsilon = 1e999999999", 2, "budget.epsilon must be"),
    ('[budget]\nepsilon = "3"', 2, "budget.epsilon must be a finite number, not '3'"),
    ("[budget]\nepsilon = true", 2, "budget.epsilon must be a finite number, not true"),
    ("[budget]\ndelta = 0.1", 1, "budget.epsilon is missing"),
    ("[tables.visits]\n", None, "The section [budget] is missing"),
    (BUDGET, None, "The section [tables] is missing"),
    (BUDGET + "[tables]", 3, "The catalog has no table"),
    (BUDGET + "delta = 1", 3, "budget.delta must be at least 0 and less than 1, not 1"),
    (BUDGET + "delta = -0.1", 3, "budget.delta must be"),
    (BUDGET + "delta = 2", 3, "budget.delta must be"),
    (BUDGET + 'neighbours = "add"', 3, 'must be "add-remove" or "replace"'),
    (BUDGET + 'neighbours = "add_remove"', 3, "Did you mean add-remove?"),
    (BUDGET + 'accounting = "concentrated"', 3, '"concentrated" needs a delta'),
    (BUDGET + "question_delta = 1e-9", 3, "at most delta"),
    (BUDGET + '[source]\nengine = "oracle"', 4, "source.engine is not an engine: 'oracle'"),
    (BUDGET + "[source]\nthreads = 0", 4, "source.threads must be a whole number"),
    (BUDGET + '[source]\nmemory_limit = "4 gigs"', 4, "source.memory_limit must be"),
    (BUDGET + "[source]\ntimeout = 0", 4, "source.timeout must be"),
    (BUDGET + "[source]\nledger = 3", 4, "source.ledger must be text"),
    (TABLE + "[analysts.eve]\nepsilon = 0", 6, "analysts.eve.epsilon must be"),
    (TABLE + "[analysts.eve]\nepsilon = 1\nper_day = 0", 7, "analysts.eve.per_day must be"),
    (
        TABLE + "[analysts.eve]\nepsilon = 1\nper_query = 0.1\ndefault_epsilon = 0.2",
        8,
        "default_epsilon must be at most per_query, 0.1",
    ),
    (TABLE + "[analysts.eve]\n[analysts.Eve]", 6, "differs from eve only in letter case"),
    (BUDGET + '[tables.visits]\nfrom = "v.csv"', 3, "tables.visits has no unit"),
    (BUDGET + '[tables.visits]\nunit = "FILL IN"', 4, "unit must be filled in"),
    (TABLE + "public = true", 4, "unit cannot be given for a public table"),
    (TABLE + "rows_per_unit = 0", 5, "rows_per_unit must be a whole number from 1"),
    (TABLE + "rows_per_unit = 1.5", 5, "rows_per_unit must be a whole number"),
    (TABLE + '[tables.x]\nunit = "row"\nrows_per_unit = 2', 7, 'must be 1 with unit = "row"'),
    (TABLE + "[tables.x]\npublic = true\nrows_per_unit = 2", 7, "cannot be given for a public"),
    (TABLE + "groups_per_unit = 0", 5, "groups_per_unit must be a whole number from 1"),
    (TABLE + "groups_per_unit = {}", 5, "groups_per_unit must name at least one column"),
    (TABLE + "groups_per_unit = { a = 0 }", 5, "must be a whole number from 1"),
    (
        TABLE + '[tables.x]\nunit = "row"\ngroups_per_unit = 1',
        7,
        'cannot be given with unit = "row"',
    ),
    (TABLE + "[tables.x]\npublic = true\ngroups_per_unit = 2", 7, "cannot be given for a public"),
    (TABLE + "public = 1", 5, "public must be true or false, not 1"),
    (TABLE + '[tables.Visits]\nunit = "id"', 5, "tables.Visits differs from visits only in"),
    (TABLE + '[tables.Released_0]\nunit = "id"', 5, "is a name that Discreet uses"),
    (TABLE + '[tables."a\\u0007b"]\nunit = "id"', 5, "contains a control character"),
    (TABLE + "[tables.x]\nunit = 'vists.id via a'", 6, "Did you mean visits?"),
    (TABLE + "[tables.x]\nunit = 'y.id via a'", 6, "leads to y, which is not a table"),
    (
        TABLE + "[tables.y]\npublic = true\n[tables.x]\nunit = 'y.id via a'",
        8,
        "leads to y, a public table",
    ),
    (
        TABLE + "[tables.y]\nunit = 'x.id via a'\n[tables.x]\nunit = 'y.id via a'",
        6,
        "is circular",
    ),
    (TABLE + "[tables.x]\nunit = 'x.id via a'", 6, "is circular"),
    (TABLE + "[tables.x]\nunit = 'visits.id'", 6, "does not name the column that refers to visits"),
    (TABLE + "[tables.x]\nunit = 'visits.no via a'", 6, "the unit of visits is id"),
    (TABLE + "[tables.x]\nunit = 'visits via a'", 6, "a path without a column"),
    (TABLE + "[tables.x]\nunit = 'a.b.c'", 6, "neither a column nor a path"),
    (
        TABLE + "[tables.y]\nunit = 'row'\n[tables.x]\nunit = 'y.id via a'",
        8,
        "leads to y, where each row is a unit",
    ),
    (COLUMNS + "ID = {}", 7, "ID differs from id only in letter case"),
    (
        COLUMNS + 'age = "integer"',
        7,
        "columns.age must be a section with named entries, not 'integer'",
    ),
    (COLUMNS + 'age = { type = "int" }', 7, "Did you mean integer?"),
    (COLUMNS + 'age = { type = "interval" }', 7, "age.type must be one of"),
    (COLUMNS + "age = { bounds = [3, 1] }", 7, "The bounds of visits.age are in the wrong order"),
    (COLUMNS + "age = { bounds = [3, 3] }", 7, "The bounds of visits.age are equal"),
    (COLUMNS + "age = { bounds = [0, nan] }", 7, "bounds[1] must be a finite number, not NaN"),
    (COLUMNS + "age = { bounds = [-inf, 0] }", 7, "bounds[0] must be a finite number"),
    (COLUMNS + "age = { bounds = [-9e299, 9e299] }", 7, "must not be wider than 1e300"),
    (COLUMNS + "age = { bounds = [0, 1e308] }", 7, "bounds[1] must be 0 or between 1e-300 and"),
    (COLUMNS + "age = { bounds = [0, 1e-308] }", 7, "bounds[1] must be 0 or between 1e-300 and"),
    (COLUMNS + "age = { bounds = [0] }", 7, "bounds must have two values, not 1"),
    (COLUMNS + "age = { bounds = 3 }", 7, "bounds must be a list, not 3"),
    (COLUMNS + "age = { bounds = [true, false] }", 7, "bounds[0] must be a finite number, not tr"),
    (COLUMNS + "age = { bounds = [2024-01-01, 3] }", 7, "bounds[0] must be a finite number"),
    (COLUMNS + "age = { bounds = [12:00:00, 13:00:00] }", 7, "bounds[0] must be a finite number"),
    (
        COLUMNS + 'age = { type = "integer", bounds = [0, 1.5] }',
        7,
        "bounds[1] must be a whole number",
    ),
    (COLUMNS + 'age = { type = "text", bounds = [0, 1] }', 7, "cannot be given for a text column"),
    (COLUMNS + 'age = { type = "boolean", bounds = [0, 1] }', 7, "cannot be given for a boolean"),
    (COLUMNS + 'age = { type = "date", bounds = [0, 1] }', 7, "bounds[0] must be a date, not 0"),
    (
        COLUMNS + 'at = { type = "timestamp", bounds = [2024-01-01T00:00:00Z, 2025-01-01] }',
        7,
        "bounds[0] has a UTC offset, but the column has no time zone",
    ),
    (COLUMNS + 'age = { type = "text", bounds = "AUTO" }', 7, 'cannot be "AUTO" for a text'),
    (COLUMNS + 'age = { type = "date", bounds = "AUTO" }', 7, 'cannot be "AUTO" for a date'),
    (COLUMNS + 'age = { bounds = "auto" }', 7, "bounds must be a list, not 'auto'"),
    (COLUMNS + 'age = { bounds = "AUTO", step = 1 }', 7, "step needs a declared lower bound"),
    (COLUMNS + "age = { bounds = [0, 1], step = 0 }", 7, "step must be more than 0, not 0"),
    (COLUMNS + "age = { bounds = [0, 1], step = -1 }", 7, "step must be more than 0"),
    (
        COLUMNS + "age = { bounds = [0, 1], step = 0.3 }",
        7,
        "Change the upper bound to 0.9, or remove step",
    ),
    (COLUMNS + "age = { bounds = [0, 1], step = 1e-300 }", 7, "more steps than 64 bits"),
    (COLUMNS + 'age = { type = "integer", step = 0.5 }', 7, "step must be a whole number"),
    (COLUMNS + 'age = { type = "text", step = 1 }', 7, "step cannot be given for a text"),
    (COLUMNS + 'age = { type = "date", step = 1 }', 7, "step must be a span of time for a date"),
    (COLUMNS + 'age = { type = "date", step = "1 hour" }', 7, "step must be whole days for a date"),
    (COLUMNS + 'age = { type = "text", step = "1 day" }', 7, "step cannot be a span of time for"),
    (COLUMNS + 'age = { type = "real", step = "1 day" }', 7, "step cannot be a span of time for"),
    (
        COLUMNS + 'age = { type = "timestamp", step = "1 month" }',
        7,
        "Write a span of seconds, minutes, hours, days or weeks",
    ),
    (COLUMNS + 'age = { type = "timestamp", step = "0 days" }', 7, "step must be a number, or a"),
    (COLUMNS + 'age = { bounds = [0, 1], step = "1 minute" }', 7, "step cannot be a span of time"),
    (COLUMNS + "age = { values = [] }", 7, "values must contain at least one value"),
    (COLUMNS + 'age = { values = "a" }', 7, "values must be a list, not 'a'"),
    (COLUMNS + 'age = { values = ["a", "a"] }', 7, "values[1] repeats the value 'a'"),
    (COLUMNS + 'age = { values = ["a", 3] }', 7, "values[1] must be text, not 3"),
    (COLUMNS + 'age = { values = ["FILL IN"] }', 7, "values[0] must be filled in"),
    (COLUMNS + "age = {type='integer', values = [\n1,\n 2.5] }", 9, "must be a whole number"),
    (COLUMNS + "age = { values = [1, 1.0] }", 7, "values[1] repeats the value 1.0"),
    (COLUMNS + "age = {type='integer', values = [true]}", 7, "values[0] must be a finite"),
    (COLUMNS + "age = {type='boolean', values = [0]}", 7, "values[0] must be boolean, not 0"),
    (COLUMNS + "age = {bounds = [0, 9], values = [10]}", 7, "is outside the bounds of the column"),
    (COLUMNS + "age = {type='other', values = ['a']}", 7, "cannot be listed"),
    (COLUMNS + "age = { nulls = 1 }", 7, "nulls must be true or false, not 1"),
    (COLUMNS + "age = { bounds = [LOW, HIGH] }", 7, "The bounds must be filled in"),
    (COLUMNS + "id = { type = 'text' }", 7, "This setting is declared twice"),
    (COLUMNS + "age = ", 7, "Invalid TOML: invalid value"),
    (COLUMNS + "age = [1,", 7, "Invalid TOML: invalid value"),
    ("[[budget]]\nepsilon = 1\n", 1, "budget must be a section with named entries"),
    ('[budget]\nepsilon = """\n3"""\ndelta = 1', 2, "budget.epsilon must be"),
]


@pytest.mark.parametrize(("text", "line", "says"), REFUSED, ids=[each[2] for each in REFUSED])
def test_what_cannot_be_used_is_refused_by_file_and_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, line: int | None, says: str
) -> None:
    written(tmp_path, _with_table(text))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CatalogError) as refusal:
        read("discreet.toml")
    sentence = str(refusal.value)
    assert says in sentence
    assert f"(discreet.toml{'' if line is None else f', line {line}'}). " in sentence
    assert sentence.endswith((".", "?"))
    assert "\n" not in sentence


def _with_table(text: str) -> str:
    """Return the text with a table after it, if it lacks one and shall not be refused for that."""
    is_about_budget = "[tables" not in text and text != BUDGET
    return text + ('\n[tables.t]\nunit = "id"\n' if is_about_budget else "")


ALONE = [
    (COLUMNS + "age = {}", 7, "age has no declared type"),
    (TABLE, 3, "tables.visits has no declared columns"),
    (COLUMNS + "[tables.x]\npublic=true\ncolumns.a.bounds='AUTO'", 9, "a has no declared type"),
    (
        COLUMNS + "[tables.x]\npublic=true\ncolumns.a={type='real',bounds='AUTO'}",
        9,
        'cannot be "AUTO" in a public table',
    ),
    (TABLE + "columns.no.type = 'text'", 4, 'unit = "id" is not a column of visits'),
    (
        TABLE + "columns.Id.type = 'other'",
        4,
        "unit uses visits.Id, whose values cannot be compared",
    ),
    (COLUMNS + "[tables.x]\npublic=true\nkey='b'\ncolumns.bb.type='real'", 9, "Did you mean bb?"),
    (COLUMNS + "[tables.x]\nunit='visits.id via id'\ncolumns.id.type='text'", 8, "compares x.id"),
    (
        COLUMNS + "[tables.x]\nunit='visits.id via a'\ncolumns.a.type='text'",
        8,
        "names a, which is not a column of visits",
    ),
]


@pytest.mark.parametrize(("text", "line", "says"), ALONE, ids=[each[2] for each in ALONE])
def test_what_is_not_whole_without_data_is_refused_by_line(
    tmp_path: Path, text: str, line: int, says: str
) -> None:
    path = written(tmp_path, text)
    read(path)
    with pytest.raises(CatalogError) as refusal:
        load(path)
    assert says in str(refusal.value)
    assert f"({path}, line {line}). " in str(refusal.value)


AGAINST_SCHEMA = [
    ("agee = { bounds = [0, 1] }", "agee is not a column of visits", "Did you mean Age?"),
    ("age = { type = 'real' }", 'is "real", but the column is "integer"', "type"),
    ("region = { bounds = [0, 1] }", "cannot be given for a text column", "bounds"),
    (
        "Age = { bounds = [0, 1.5] }",
        "bounds[1] must be a whole number for an integer column",
        "1.5",
    ),
    ("day = { bounds = [0, 1] }", "bounds[0] must be a date, not 0", "2024-12-31"),
    ("day = { values = ['x'] }", "values[0] must be a date, not 'x'", "2024-12-31"),
]


@pytest.mark.parametrize(("line", "says", "fix"), AGAINST_SCHEMA)
def test_what_the_schema_contradicts_is_refused_by_line(
    tmp_path: Path, line: str, says: str, fix: str
) -> None:
    text = TABLE.replace('"id"', '"patient_id"') + f"[tables.visits.columns]\n{line}\n"
    path = written(tmp_path, text)
    with pytest.raises(CatalogError) as refusal:
        load(path, columns_of)
    assert says in str(refusal.value)
    assert fix in str(refusal.value)
    assert f"({path}, line 6). " in str(refusal.value)


def test_columns_of_the_data_that_differ_by_case_are_refused(tmp_path: Path) -> None:
    twins = (Column(name="id", kind=Kind.TEXT), Column(name="ID", kind=Kind.TEXT))
    with pytest.raises(
        CatalogError, match="has columns id and ID, which differ only in letter case"
    ):
        load(written(tmp_path, TABLE), lambda _: twins)


def test_a_catalog_that_is_not_there_or_not_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        CatalogError,
        match=r"^Catalog .*discreet\.toml not found\. Name another file with --catalog, or create",
    ):
        read(tmp_path / "discreet.toml")
    with pytest.raises(CatalogError, match="cannot be read"):
        read(tmp_path)
    (tmp_path / "discreet.toml").write_bytes(b"[budget]\n# caf\xe9\n")
    with pytest.raises(CatalogError, match=r"not UTF-8 text \(.*line 2\)"):
        read(tmp_path / "discreet.toml")


def test_a_catalog_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "discreet.toml"
    path.write_bytes(b"\xef\xbb\xbf" + DESIGN.replace("\n", "\r\n").encode())
    assert load(path, columns_of).budget.epsilon == 3


@pytest.mark.parametrize("text", ["x = " + "[" * 100_000, "x = " + "9" * 5000])
def test_values_too_long_to_read_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(CatalogError, match="A value of the catalog is too long"):
        read(written(tmp_path, text))
