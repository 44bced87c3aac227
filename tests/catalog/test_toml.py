"""Catalogs as text: what is written reads back as the same."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.catalog import Catalog, RowChoice, catalog_from, load, toml_from
from discreet.catalog.schema import number_from_time
from discreet.catalog.toml import written_number
from discreet.errors import CatalogError

names = st.text(
    alphabet=st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8
).filter(lambda name: name.strip() and name != "FILL IN")
decimals = st.decimals(min_value=-1000, max_value=1000, places=4).map(Fraction)
fractions = st.fractions(min_value=-1000, max_value=1000, max_denominator=10**6)
texts = st.text(max_size=5).filter(lambda text: text.isascii() or text.isprintable())


def _ranged(ends: st.SearchStrategy[object]) -> st.SearchStrategy[dict[str, object]]:
    pairs = st.tuples(ends, ends).filter(lambda pair: pair[0] != pair[1])
    return pairs.map(lambda pair: {"bounds": sorted(pair, key=_order)})


def _order(value: object) -> Fraction:
    return number_from_time(value) if isinstance(value, date) else Fraction(str(value))


def _optional(
    kind: str, ranged: st.SearchStrategy[object] | None, listed: st.SearchStrategy[object] | None
) -> st.SearchStrategy[dict[str, object]]:
    choices: list[st.SearchStrategy[dict[str, object]]] = [st.just({})]
    if ranged is not None:
        choices.append(_ranged(ranged))
    if listed is not None:
        several = st.lists(listed, min_size=1, max_size=4, unique=True)
        choices.append(several.map(lambda values: {"values": values}))
    nulls = st.sampled_from([{}, {"nulls": True}, {"nulls": False}])
    return st.tuples(st.one_of(choices), nulls).map(
        lambda pair: {"type": kind, **pair[0], **pair[1]}
    )


moments = st.datetimes(min_value=datetime(1000, 1, 1))
aware = moments.map(lambda each: each.replace(tzinfo=UTC))
columns = st.one_of(
    _optional("boolean", None, st.booleans()),
    _optional("integer", st.integers(-(10**12), 10**12), st.integers(-(2**63), 2**63 - 1)),
    _optional("real", fractions | decimals, st.floats(-1e100, 1e100, allow_subnormal=False)),
    _optional("text", None, texts),
    _optional("date", st.dates(), st.dates()),
    _optional("timestamp", moments, moments),
    _optional("timestamp with time zone", aware, aware),
    _optional("other", None, None),
    st.just({"type": "real", "bounds": "AUTO"}),
    st.just({"type": "real", "bounds": [0, 5], "step": Fraction(1, 100)}),
    st.sampled_from(["date", "timestamp", "timestamp with time zone"]).map(
        lambda kind: {"type": kind, "step": "2 weeks"}
    ),
    st.sampled_from(["1 second", "15 minutes", "36 hours", "1 day"]).map(
        lambda step: {"type": "timestamp", "step": step}
    ),
)


def _by_name(
    values: st.SearchStrategy[dict[str, object]], least: int = 0
) -> st.SearchStrategy[dict[str, dict[str, object]]]:
    return st.lists(
        st.tuples(names, values), min_size=least, max_size=3, unique_by=lambda e: e[0].casefold()
    ).map(dict)


@st.composite
def catalogs(draw: Callable[[st.SearchStrategy[object]], object]) -> Catalog:
    def some(entries: dict[str, st.SearchStrategy[object]]) -> dict[str, object]:
        return {key: draw(value) for key, value in entries.items() if draw(st.booleans())}

    source = {
        "memory_limit": st.just("4 GB"),
        "threads": st.integers(1, 64),
        "timeout": st.integers(1, 600),
        "ledger": names.map(lambda name: f"/{name.strip('/')}"),  # as paths are read
    }
    delta = Fraction(1, 10**6)
    budget = {"epsilon": draw(fractions.filter(lambda x: x > 0)), "delta": delta}
    budget |= some(
        {
            "question_delta": st.just(delta / 3),
            "neighbours": st.just("replace"),
            "accounting": st.just("concentrated"),
        }
    )
    unit = draw(names)
    assert isinstance(unit, str)
    people = {unit: {"type": "text"}}
    own = draw(_by_name(columns, least=1))
    assert isinstance(own, dict)
    own = {name: each for name, each in own.items() if name.casefold() != unit.casefold()}
    quoted = '"' + unit.replace('"', '""') + '"'
    tables = {
        "people": {"unit": quoted, "columns": people | own, "key": unit, "from": "/a/b.csv"},
        "rows": {"unit": "row", "columns": people | own},
        "deeds": {"unit": f"people.{quoted}", "columns": people}
        | some({"rows_per_unit": st.integers(1, 99)})
        | some({"groups_per_unit": st.integers(1, 99)}),
        "regions": {"public": True, "columns": people},
    }
    limits: list[dict[str, object]] = [
        {"epsilon": 1},
        {"epsilon": 1, "delta": delta},
        {"epsilon": 1, "per_query": Fraction(1, 8), "default_epsilon": Fraction(1, 10)},
        {"epsilon": 1, "per_day": delta, "confirm_above": 0},
    ]
    analysts = draw(_by_name(st.sampled_from(limits)))
    return catalog_from(
        {"budget": budget, "source": some(source), "tables": tables, "analysts": analysts}
    )


@given(catalogs())
def test_what_is_written_reads_back_as_the_same_catalog(catalog: Catalog) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "discreet.toml"
        path.write_text(toml_from(catalog), encoding="utf-8")
        assert load(path) == catalog


@given(st.fractions())
def test_numbers_are_written_exactly(number: Fraction) -> None:
    text = written_number(number)
    assert Fraction(text.strip('"')) == number
    assert ("/" in text) == text.startswith('"')


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (Fraction(3), "3"),
        (Fraction(-1, 2), "-0.5"),
        (Fraction(1, 10**6), "0.000001"),
        (Fraction(1, 10**30), "1e-30"),
        (Fraction(1, 3), '"1/3"'),
        (Fraction(2**63), "9223372036854775808e0"),
    ],
)
def test_numbers_are_written_as_people_write_them(number: Fraction, text: str) -> None:
    assert written_number(number) == text


def test_the_text_is_what_an_owner_would_write() -> None:
    catalog = catalog_from(
        {
            "budget": {"epsilon": 3, "delta": 1e-6},
            "tables": {
                "visits": {
                    "from": "/data/visits.csv",
                    "unit": "patient id",
                    "columns": {
                        "patient id": {"type": "integer"},
                        "day": {"type": "date", "bounds": ["2024-01-01", "2024-12-31"]},
                        "region": {"type": "text", "values": ["north", "south"], "nulls": True},
                    },
                }
            },
        }
    )
    assert toml_from(catalog) == EXPECTED


EXPECTED = """\
[budget]
epsilon = 3
delta = 0.000001
neighbours = "add-remove"
accounting = "basic"

[source]
engine = "duckdb"

[tables.visits]
from = "/data/visits.csv"
unit = "patient id"

[tables.visits.columns]
"patient id" = { type = "integer" }
day = { type = "date", bounds = [2024-01-01, 2024-12-31] }
region = { type = "text", values = ["north", "south"], nulls = true }
"""


@pytest.mark.parametrize(
    ("written", "choice"),
    [
        ('bounding = "prepared"', RowChoice.ONCE),
        ('bounding = "per-query"', RowChoice.PER_QUERY),
        ('row_choice = "prepared"', RowChoice.ONCE),
        ('row_choice = "once"', RowChoice.ONCE),
        ('row_choice = "per-query"', RowChoice.PER_QUERY),
    ],
)
def test_the_choice_of_rows_is_read_under_both_names_and_written_under_the_new_one(
    tmp_path: Path, written: str, choice: RowChoice
) -> None:
    path = tmp_path / "discreet.toml"
    table = '[tables.t]\nunit = "id"\ncolumns.id.type = "text"\n'
    path.write_text(f"[budget]\nepsilon = 1\n[source]\n{written}\n{table}", encoding="utf-8")
    catalog = load(path)
    assert catalog.source.row_choice is choice
    path.write_text(toml_from(catalog), encoding="utf-8")
    assert "bounding" not in path.read_text()
    assert load(path) == catalog


@pytest.mark.parametrize(
    ("written", "says"),
    [
        (
            'bounding = "never"',
            r'^source.bounding must be "once" or "per-query", not \'never\' .*4\)',
        ),
        (
            'row_choice = "one"',
            r'^source.row_choice must be "once" .*line 4\)\. Did you mean once\?',
        ),
        ('bounding = "once"\nrow_choice = "once"', r"bounding is the old name of row_choice"),
    ],
)
def test_a_choice_of_rows_that_there_is_not_is_refused(
    tmp_path: Path, written: str, says: str
) -> None:
    path = tmp_path / "discreet.toml"
    path.write_text(f"[budget]\nepsilon = 1\n[source]\n{written}\n", encoding="utf-8")
    with pytest.raises(CatalogError, match=says):
        load(path)
