"""`discreet coverage`: measured once, and the limit that it finds is written into the catalog."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Discreet

COUNT = "SELECT COUNT(*) FROM visits"


@pytest.fixture
def many(folder: Path) -> Path:
    """Let 2,000 patients have 1 or 12 rows, of which 3 count, within a large budget."""
    rows = [f"{n},{n % 90},north" for n in range(2000) for _ in range(1 + 11 * (n % 2))]
    (folder / "visits.csv").write_text("\n".join(["patient_id,age,region", *rows]) + "\n")
    catalog = folder / "discreet.toml"
    catalog.write_text(catalog.read_text().replace("epsilon = 2.0", "epsilon = 2000   # mine"))
    return folder


@pytest.mark.usefixtures("many")
def test_the_command_that_an_answer_names_gives_the_share(discreet: Discreet) -> None:
    before = discreet("ask", COUNT, "-e", "1")
    assert "discreet coverage visits, or curator.coverage(" in " ".join(before.out.split())
    measured = discreet("coverage", "visits")
    assert measured.code == 0, measured
    assert re.search(r"At most 3 rows of each patient_id are counted: about 3[01]", measured.out)
    assert "Spent ε = 100 · Remaining: ε = 1899 of 2000" in measured.out
    again = json.loads(discreet("coverage", "visits", "--epsilon", "100", "--json").out)
    assert again["was_kept"] is True
    assert [each["name"] for each in again["columns"]] == ["age"]
    after = discreet("ask", COUNT, "-e", "1").out
    assert re.search(
        r"Counts at most 3 rows of each patient_id · about 3[01]\S* of all rows", after
    )


@pytest.mark.usefixtures("many")
def test_columns_can_be_named(discreet: Discreet) -> None:
    told = json.loads(discreet("coverage", "visits", "-e", "9", "--columns", "age", "--json").out)
    assert told["price"]["epsilon"] == 9
    refused = discreet("coverage", "visits", "--columns", "region")
    assert refused.code != 0
    assert "must be numbers of visits with declared bounds" in refused.err


def test_auto_is_rejected_by_the_command_that_finds_it(many: Path, discreet: Discreet) -> None:
    catalog = many / "discreet.toml"
    text = catalog.read_text().replace("rows_per_unit = 3", 'rows_per_unit = "auto"   # found')
    catalog.write_text(text)
    refused = discreet("ask", COUNT, "-e", "1")
    assert refused.code != 0
    assert "Run discreet coverage visits --write" in refused.err
    assert not (many / "discreet.ledger").exists()
    written = discreet("coverage", "visits", "--write")
    assert written.code == 0, written
    assert "the least expected error of COUNT(*) at ε = 200" in written.err
    assert "of the rows of visits." in written.err
    changed = catalog.read_text()
    number = changed.partition("rows_per_unit = ")[2].split()[0]
    assert 12 <= int(number) <= 16
    assert changed == text.replace('"auto"', number)
    answer = discreet("ask", COUNT, "-e", "1").out
    assert f"Counts at most {number} rows of each patient_id · about 100% of all rows" in answer
    assert "Spent nothing" in discreet("coverage", "visits", "--write").err


def test_a_typical_query_of_little_epsilon_takes_a_smaller_limit(
    many: Path, discreet: Discreet
) -> None:
    discreet("coverage", "visits", "--write", "--query-epsilon", "0.0006")
    text = (many / "discreet.toml").read_text()
    assert "rows_per_unit = 1\n" in text


@pytest.mark.usefixtures("many")
def test_analysts_do_not_write_the_catalog(discreet: Discreet) -> None:
    refused = discreet("coverage", "visits", "--write", "--as", "eve")
    assert refused.code != 0
    assert "only the data owner" in refused.err


def test_too_little_epsilon_finds_no_limit(many: Path, discreet: Discreet) -> None:
    before = (many / "discreet.toml").read_text()
    refused = discreet("coverage", "visits", "--write", "--epsilon", "0.0021")
    assert refused.code != 0
    assert "No rows_per_unit was found" in refused.err
    assert (many / "discreet.toml").read_text() == before
