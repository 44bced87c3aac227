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
    column_of,
    complete,
    load,
    number_from_time,
    read,
)
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
    assert complete(declared, columns_of) == load(tmp_path / "discreet.toml", columns_of)


# --------------------------------------------------------------------------- what is refused

BUDGET = "[budget]\nepsilon = 1\n"
TABLE = BUDGET + '[tables.visits]\nunit = "id"\n'
COLUMNS = TABLE + '[tables.visits.columns]\nid = { type = "integer" }\n'

REFUSED = [
    # text, line, what the sentence says
    ("[budget]\nepsilom = 1\n", 2, "budget.epsilom is not a known key"),
    ("[budget]\nepsilom = 1\n", 2, "write 'epsilon', if that is what was meant"),
    ("[budgets]\nepsilon = 1\n", 1, "budgets is not a known key"),
    (COLUMNS + "age = { bound = [0, 1] }", 7, "age.bound is not a known key"),
    (COLUMNS + "age.bound = [0, 1]", 7, "write 'bounds', if"),
    (TABLE + "groups = 3", 5, "tables.visits.groups is not a known key"),
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
    ("[tables.visits]\n", None, "budget is missing"),
    (BUDGET, None, "tables is missing"),
    (BUDGET + "[tables]", 3, "tables has no table"),
    (BUDGET + "delta = 1", 3, "budget.delta must be 0 or more and less than 1, not 1"),
    (BUDGET + "delta = -0.1", 3, "budget.delta must be"),
    (BUDGET + "delta = 2", 3, "budget.delta must be"),
    (BUDGET + 'neighbours = "add"', 3, 'must be "add-remove" or "replace"'),
    (BUDGET + 'neighbours = "add_remove"', 3, "write 'add-remove', if"),
    (BUDGET + 'accounting = "concentrated"', 3, '"concentrated" needs a delta'),
    (BUDGET + "question_delta = 1e-9", 3, "no more than delta"),
    (BUDGET + '[source]\nengine = "oracle"', 4, "source.engine names no engine: 'oracle'"),
    (BUDGET + "[source]\nthreads = 0", 4, "source.threads must be a whole number"),
    (BUDGET + '[source]\nmemory_limit = "4 gigs"', 4, "source.memory_limit must be"),
    (BUDGET + "[source]\ntimeout = 0", 4, "source.timeout must be"),
    (BUDGET + "[source]\nledger = 3", 4, "source.ledger must be a text"),
    (TABLE + "[analysts.eve]\nepsilon = 0", 6, "analysts.eve.epsilon must be"),
    (TABLE + "[analysts.eve]\n[analysts.Eve]", 6, "differs from 'eve' only by letter case"),
    (BUDGET + '[tables.visits]\nfrom = "v.csv"', 3, "tables.visits.unit is missing"),
    (BUDGET + '[tables.visits]\nunit = "FILL IN"', 4, "unit is still to be filled in"),
    (TABLE + "public = true", 4, "unit cannot be given for a public table"),
    (TABLE + "rows_per_unit = 0", 5, "rows_per_unit must be a whole number from 1"),
    (TABLE + "rows_per_unit = 1.5", 5, "rows_per_unit must be a whole number"),
    (TABLE + '[tables.x]\nunit = "row"\nrows_per_unit = 2', 7, "must be 1 where every row"),
    (TABLE + "[tables.x]\npublic = true\nrows_per_unit = 2", 7, "cannot be given for a public"),
    (TABLE + "public = 1", 5, "public must be true or false, not 1"),
    (TABLE + '[tables.Visits]\nunit = "id"', 5, "tables.Visits differs from 'visits' only by"),
    (TABLE + '[tables.Released_0]\nunit = "id"', 5, "is a name that answers use"),
    (TABLE + '[tables."a\\u0007b"]\nunit = "id"', 5, "has a character that cannot be shown"),
    (TABLE + "[tables.x]\nunit = 'vists.id via a'", 6, "write 'visits', if that"),
    (TABLE + "[tables.x]\nunit = 'y.id via a'", 6, "leads to 'y', which is no table"),
    (
        TABLE + "[tables.y]\npublic = true\n[tables.x]\nunit = 'y.id via a'",
        8,
        "leads to 'y', a public table",
    ),
    (
        TABLE + "[tables.y]\nunit = 'x.id via a'\n[tables.x]\nunit = 'y.id via a'",
        6,
        "leads in a circle",
    ),
    (TABLE + "[tables.x]\nunit = 'x.id via a'", 6, "leads in a circle"),
    (TABLE + "[tables.x]\nunit = 'visits.id'", 6, "does not say which column refers to 'visits'"),
    (TABLE + "[tables.x]\nunit = 'visits.no via a'", 6, "the unit of 'visits' is 'id'"),
    (TABLE + "[tables.x]\nunit = 'visits via a'", 6, "a path that names no column"),
    (TABLE + "[tables.x]\nunit = 'a.b.c'", 6, "neither a column nor a path"),
    (
        TABLE + "[tables.y]\nunit = 'row'\n[tables.x]\nunit = 'y.id via a'",
        8,
        "leads to 'y', where every row is a unit of its own",
    ),
    (COLUMNS + "ID = {}", 7, "ID differs from 'id' only by letter case"),
    (COLUMNS + 'age = "integer"', 7, "columns.age must be a table of names, not 'integer'"),
    (COLUMNS + 'age = { type = "int" }', 7, "write 'integer', if that is what was meant"),
    (COLUMNS + 'age = { type = "interval" }', 7, "age.type must be one of"),
    (COLUMNS + "age = { bounds = [3, 1] }", 7, "bounds has ends that are in the wrong order"),
    (COLUMNS + "age = { bounds = [3, 3] }", 7, "bounds has ends that are equal"),
    (COLUMNS + "age = { bounds = [0, nan] }", 7, "bounds[1] must be a finite number, not NaN"),
    (COLUMNS + "age = { bounds = [-inf, 0] }", 7, "bounds[0] must be a finite number"),
    (COLUMNS + "age = { bounds = [-9e299, 9e299] }", 7, "must not be wider than 1e300"),
    (COLUMNS + "age = { bounds = [0, 1e308] }", 7, "bounds[1] must be 0 or between 1e-300 and"),
    (COLUMNS + "age = { bounds = [0, 1e-308] }", 7, "bounds[1] must be 0 or between 1e-300 and"),
    (COLUMNS + "age = { bounds = [0] }", 7, "bounds must have a low and a high end, not 1"),
    (COLUMNS + "age = { bounds = 3 }", 7, "bounds must be a list, not 3"),
    (COLUMNS + "age = { bounds = [true, false] }", 7, "bounds[0] must be a finite number, not tr"),
    (COLUMNS + "age = { bounds = [2024-01-01, 3] }", 7, "bounds[0] must be a finite number"),
    (COLUMNS + "age = { bounds = [12:00:00, 13:00:00] }", 7, "bounds[0] must be a finite number"),
    (COLUMNS + 'age = { type = "integer", bounds = [0, 1.5] }', 7, "bounds[1] must be whole"),
    (COLUMNS + 'age = { type = "text", bounds = [0, 1] }', 7, "cannot be given for a text column"),
    (COLUMNS + 'age = { type = "boolean", bounds = [0, 1] }', 7, "cannot be given for a boolean"),
    (COLUMNS + 'age = { type = "date", bounds = [0, 1] }', 7, "bounds[0] must be a date, not 0"),
    (
        COLUMNS + 'at = { type = "timestamp", bounds = [2024-01-01T00:00:00Z, 2025-01-01] }',
        7,
        "bounds[0] has an offset, but the column has no time zone",
    ),
    (COLUMNS + 'age = { type = "text", bounds = "AUTO" }', 7, 'cannot be "AUTO" for a text'),
    (COLUMNS + 'age = { type = "date", bounds = "AUTO" }', 7, 'cannot be "AUTO" for a date'),
    (COLUMNS + 'age = { bounds = "auto" }', 7, "bounds must be a list, not 'auto'"),
    (COLUMNS + 'age = { bounds = "AUTO", step = 1 }', 7, "step needs a lower bound"),
    (COLUMNS + "age = { bounds = [0, 1], step = 0 }", 7, "step must be more than 0, not 0"),
    (COLUMNS + "age = { bounds = [0, 1], step = -1 }", 7, "step must be more than 0"),
    (COLUMNS + "age = { bounds = [0, 1], step = 0.3 }", 7, "end the bounds at 0.9, say"),
    (COLUMNS + "age = { bounds = [0, 1], step = 1e-300 }", 7, "more steps than 64 bits"),
    (COLUMNS + 'age = { type = "integer", step = 0.5 }', 7, "step must be whole"),
    (COLUMNS + 'age = { type = "text", step = 1 }', 7, "step cannot be given for a text"),
    (COLUMNS + "age = { values = [] }", 7, "values must list at least one value"),
    (COLUMNS + 'age = { values = "a" }', 7, "values must be a list, not 'a'"),
    (COLUMNS + 'age = { values = ["a", "a"] }', 7, "values[1] is 'a' a second time"),
    (COLUMNS + 'age = { values = ["a", 3] }', 7, "values[1] must be text, not 3"),
    (COLUMNS + 'age = { values = ["FILL IN"] }', 7, "values[0] is still to be filled in"),
    (COLUMNS + "age = {type='integer', values = [\n1,\n 2.5] }", 9, "must be a whole number"),
    (COLUMNS + "age = { values = [1, 1.0] }", 7, "values[1] is 1.0 a second time"),
    (COLUMNS + "age = {type='integer', values = [true]}", 7, "values[0] must be a finite"),
    (COLUMNS + "age = {type='boolean', values = [0]}", 7, "values[0] must be boolean, not 0"),
    (COLUMNS + "age = {bounds = [0, 9], values = [10]}", 7, "lies outside the column's bounds"),
    (COLUMNS + "age = {type='other', values = ['a']}", 7, "cannot be listed"),
    (COLUMNS + "age = { nulls = 1 }", 7, "nulls must be true or false, not 1"),
    (COLUMNS + "age = { bounds = [LOW, HIGH] }", 7, "bounds are still to be filled in"),
    (COLUMNS + "id = { type = 'text' }", 7, "a key stands here for the second time"),
    (COLUMNS + "age = ", 7, "this is not TOML"),
    (COLUMNS + "age = [1,", 7, "this is not TOML"),
    ("[[budget]]\nepsilon = 1\n", 1, "budget must be a table of names"),
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
    assert f"(discreet.toml{'' if line is None else f', line {line}'}); " in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence


def _with_table(text: str) -> str:
    """Return the text with a table after it, if it lacks one and shall not be refused for that."""
    is_about_budget = "[tables" not in text and text != BUDGET
    return text + ('\n[tables.t]\nunit = "id"\n' if is_about_budget else "")


ALONE = [
    (COLUMNS + "age = {}", 7, "age has no type, and no data are at hand to tell"),
    (TABLE, 3, "tables.visits has no columns, and no data"),
    (COLUMNS + "[tables.x]\npublic=true\ncolumns.a.bounds='AUTO'", 9, "a has no type"),
    (
        COLUMNS + "[tables.x]\npublic=true\ncolumns.a={type='real',bounds='AUTO'}",
        9,
        'cannot be "AUTO" in a public table',
    ),
    (TABLE + "columns.no.type = 'text'", 4, "unit names 'id', which is no column there"),
    (TABLE + "columns.Id.type = 'other'", 4, "unit names 'Id', whose values cannot be told"),
    (COLUMNS + "[tables.x]\npublic=true\nkey='b'\ncolumns.bb.type='real'", 9, "write 'bb', if"),
    (COLUMNS + "[tables.x]\nunit='visits.id via id'\ncolumns.id.type='text'", 8, "compares 'id'"),
    (COLUMNS + "[tables.x]\nunit='visits.id via a'\ncolumns.a.type='text'", 8, "names 'a'"),
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
    assert f"({path}, line {line}); " in str(refusal.value)


AGAINST_SCHEMA = [
    ("agee = { bounds = [0, 1] }", "agee is no column of 'visits'", "write 'Age', if"),
    ("age = { type = 'real' }", 'is "real", but the column is "integer"', "type"),
    ("region = { bounds = [0, 1] }", "cannot be given for a text column", "bounds"),
    ("Age = { bounds = [0, 1.5] }", "bounds[1] must be whole for an integer column", "1.5"),
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
    assert f"({path}, line 6); " in str(refusal.value)


def test_columns_of_the_data_that_differ_by_case_are_refused(tmp_path: Path) -> None:
    twins = (Column(name="id", kind=Kind.TEXT), Column(name="ID", kind=Kind.TEXT))
    with pytest.raises(CatalogError, match="differ only by letter case, as 'ID' does"):
        load(written(tmp_path, TABLE), lambda _: twins)


def test_a_catalog_that_is_not_there_or_not_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="there is no such catalog"):
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
    with pytest.raises(CatalogError, match="too long to read"):
        read(written(tmp_path, text))
