"""Made-up people: secrets are fair coins, values are as declared, and no data is ever read."""

import sys
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest

from discreet.attacks.defences import Discreet, Raw
from discreet.attacks.people import CITIES, People, synthetic_people
from discreet.attacks.synthesizer import guessed_kind, synthesizer_like, synthetic_like
from discreet.attacks.targets import protected_by
from discreet.catalog import Kind
from discreet.catalog.arguments import declare
from discreet.catalog.declaration import Declaration
from discreet.catalog.resolve import read
from discreet.demo import CATALOG
from discreet.errors import CatalogError, ParameterError
from tests.statistics import FALSE_ALARM

SHOP = """
[budget]
epsilon = 2

[tables.customers]
from = "customers.parquet"
unit = "customer"
key = "customer"

[tables.customers.columns]
customer = { type = "text", values = ["known", "to", "somebody"] }
joined = { bounds = [2020-01-01, 2024-12-31] }

[tables.orders]
from = "orders.csv"
unit = "customers.customer via customer"
key = "order"

[tables.orders.columns]
paid = { bounds = [0, 10.5] }
at = { bounds = [2020-01-01T00:00:00, 2024-12-31T00:00:00] }
weight = { bounds = "AUTO" }

[tables.items]
from = "items.csv"
unit = "orders.customer via order"

[tables.items.columns]
kind = { values = ["toy", "child's"] }
note = { type = "text" }
photo = { type = "other" }

[tables.cities]
from = "cities.csv"
public = true
"""


@pytest.fixture
def shop(tmp_path: Path) -> Declaration:
    """Read a catalog of files that are not there: whoever opened one of them would fail."""
    path = tmp_path / "discreet.toml"
    path.write_text(SHOP)
    return read(path)


@pytest.fixture
def clinic(tmp_path: Path) -> Declaration:
    path = tmp_path / "discreet.toml"
    path.write_text(CATALOG)
    return read(path)


def secrets_count(people: People, by: Raw | Discreet) -> float:
    """Ask how many of the first half have the secret."""
    scheme = people.scheme
    with protected_by(by, people) as target:
        return target.ask(scheme.count(scheme.secret.sql, scheme.among(range(len(people) // 2))))


def test_secrets_are_fair_coins() -> None:
    secrets = synthetic_people(4000).secrets
    assert binomtest(int(secrets.sum()), 4000).pvalue > FALSE_ALARM
    turns = int(np.sum(secrets[1:] != secrets[:-1]))
    assert binomtest(turns, 3999).pvalue > FALSE_ALARM


def test_people_have_the_columns_that_are_declared() -> None:
    people = synthetic_people(300)
    rows = people.table.to_pylist()
    assert [row["person"] for row in rows] == list(range(300))
    assert {row["city"] for row in rows} == set(CITIES)
    assert all(0 <= row["age"] <= 99 and 0 <= row["income"] <= 100_000 for row in rows)
    assert len(people) == 300


@pytest.mark.parametrize("secret", [None, "joined", "orders.paid", "AT", "kind"])
def test_every_table_of_a_catalog_is_made_up_without_its_files(
    shop: Declaration, secret: str | None
) -> None:
    people = synthetic_like(shop, 30, secret=secret)
    assert set(people.tables) == {"customers", "orders", "items"}
    assert all(table.num_rows == 30 for table in people.tables.values())
    exact = int(people.secrets[:15].sum())
    assert secrets_count(people, Raw()) == exact
    # Ten rows of a unit may count, and the noise is for so many.
    assert abs(secrets_count(people, Discreet(epsilon=100, each=100)) - exact) <= 1


def test_no_file_is_opened(shop: Declaration) -> None:
    opened: list[str] = []
    is_watching = True

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if is_watching and event == "open":
            opened.append(str(arguments[0]))

    sys.addaudithook(hook)
    people = synthetic_like(shop, 20)
    secrets_count(people, Raw())
    secrets_count(people, Discreet())
    is_watching = False
    assert [each for each in opened if Path(each).suffix in {".csv", ".parquet"}] == []


def test_keys_refer_to_the_same_people_in_all_tables(shop: Declaration) -> None:
    tables = synthetic_like(shop, 12).tables
    customers = tables["customers"].column("customer").to_pylist()
    assert len(set(customers)) == 12
    assert tables["orders"].column("customer").to_pylist() == customers
    assert (
        tables["items"].column("order").to_pylist() == tables["orders"].column("order").to_pylist()
    )


def test_values_lie_within_what_is_declared(shop: Declaration) -> None:
    tables = synthesizer_like(shop, "paid")(200).tables
    assert all(0 <= row["paid"] <= 10.5 for row in tables["orders"].to_pylist())
    days = [row["joined"] for row in tables["customers"].to_pylist()]
    assert date(2020, 1, 1) <= min(days) < max(days) <= date(2024, 12, 31)
    assert {row["kind"] for row in tables["items"].to_pylist()} == {"toy", "child's"}


@pytest.mark.parametrize(
    ("secret", "condition"),
    [
        (None, '"smokes"'),
        ("sex", "\"sex\" = 'f'"),
        ("visits.age", '"age" >= 55'),
        ("day", "\"day\" >= DATE '2024-07-02'"),
        ("cost", '"cost" >= 250.0'),
    ],
)
def test_a_secret_is_a_condition_that_is_a_coin_for_each_person(
    clinic: Declaration, secret: str | None, condition: str
) -> None:
    people = synthetic_like(clinic, 400, secret=secret)
    assert people.scheme.secret.sql == condition
    assert binomtest(int(people.secrets.sum()), 400).pvalue > FALSE_ALARM


def test_people_are_counted_where_several_rows_of_a_person_count(clinic: Declaration) -> None:
    visits, patients = (synthesizer_like(clinic, each)(2).scheme for each in ("age", "sex"))
    assert 'COUNT(DISTINCT "patient_id")' in visits.count("x")
    assert "COUNT(*)" in patients.count("x")


@pytest.mark.parametrize(
    ("secret", "words"),
    [("smoke", "'smokes'"), ("patient_id", "must name a column"), ("clinics.beds", "such as")],
)
def test_a_column_that_can_hold_no_secret_is_refused_with_one_that_can(
    clinic: Declaration, secret: str, words: str
) -> None:
    with pytest.raises(ParameterError, match=words):
        synthesizer_like(clinic, secret)


def test_rows_that_nothing_tells_apart_are_refused() -> None:
    declared = declare({"t": None}, epsilon=1, unit="row", bounds={"age": (0, 9)})
    with pytest.raises(CatalogError, match="identifies its people"):
        synthetic_like(declared, 5)


def test_rows_are_told_apart_by_a_column_of_which_nothing_is_declared() -> None:
    declared = declare(
        {"t": None}, epsilon=1, unit="row", bounds={"age": (0, 9)}, types={"name": "text"}
    )
    people = synthetic_like(declared, 8)
    assert people.scheme.unit == "name"
    assert secrets_count(people, Discreet(epsilon=50, each=50)) == people.secrets[:4].sum()


def test_there_must_be_something_to_make_a_secret_of() -> None:
    declared = declare({"t": None}, epsilon=1, unit="who", types={"word": "text"})
    with pytest.raises(CatalogError, match="No column of a private table can be the secret"):
        synthetic_like(declared, 5)


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ({"values": {"x": [True, False]}}, Kind.BOOLEAN),
        ({"values": {"x": ["a"]}}, Kind.TEXT),
        ({"values": {"x": [1, 2]}}, Kind.INTEGER),
        ({"bounds": {"x": (0, 1)}}, Kind.INTEGER),
        ({"bounds": {"x": (0, 0.5)}}, Kind.REAL),
        ({"bounds": {"x": (0, 1)}, "step": {"x": 0.5}}, Kind.REAL),
        ({"bounds": {"x": (date(2024, 1, 1), date(2024, 2, 1))}}, Kind.DATE),
        ({"bounds": {"x": ("2024-01-01T00:00", "2024-02-01T00:00")}}, Kind.TIMESTAMP_TZ),
    ],
)
def test_kinds_are_guessed_from_what_is_declared(said: dict[str, object], kind: Kind) -> None:
    declared = declare({"t": None}, epsilon=1, unit="who", **said)  # type: ignore[arg-type]
    (column,) = declared.tables[0].columns
    assert guessed_kind(column) is kind
