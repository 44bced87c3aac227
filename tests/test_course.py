"""The numbers of five lectures, each by one call of the public API."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from docs.build import COURSE_PAGE, NUMBERS, course_page, evaluated

ROOT = Path(__file__).parent.parent
GOLDEN: dict[str, dict[str, Any]] = {
    entry["id"]: entry
    for entry in json.loads((ROOT / "tests/golden/lectures.json").read_text(encoding="utf-8"))
}
CALLS: dict[str, dict[str, Any]] = tomllib.loads(NUMBERS.read_text(encoding="utf-8"))


def test_every_number_of_the_lectures_has_a_call() -> None:
    assert CALLS.keys() == GOLDEN.keys()


@pytest.mark.parametrize("name", CALLS)
def test_our_number_is_the_lecture_s(name: str) -> None:
    own, value = CALLS[name], GOLDEN[name]["value"]
    found = evaluated(own["call"])
    expected = own.get("expect", value)
    assert _numbers(found) == pytest.approx(_numbers(expected), rel=own.get("within", 1e-12), abs=0)


def test_a_wrong_number_would_be_noticed() -> None:
    wrong = GOLDEN["geometric-normaliser"]["value"] * (1 + 1e-9)
    assert evaluated(CALLS["geometric-normaliser"]["call"]) != pytest.approx(wrong, rel=1e-12)


def test_the_page_is_what_make_docs_writes() -> None:
    assert COURSE_PAGE.read_text(encoding="utf-8") == course_page()


def _numbers(value: Any) -> list[float]:
    return [float(each) for each in (value if isinstance(value, list | tuple) else [value])]
