"""Write what documentation computes: generated pages, figures and notebooks. `make docs` runs it.

The examples on the pages are another command, `python -m docs.refresh`.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import exp, log, sqrt
from pathlib import Path
from typing import Any

from discreet import accounting, mechanisms, utility
from discreet.mechanisms import Exponential, Gaussian, Geometric, Laplace, Staircase
from discreet.mechanisms.distributions import ChoiceDistribution
from docs.agent_conversation import agent_page
from docs.benchmark_summary import benchmark_summary_page
from docs.notebooks import COURSE, write_notebooks
from docs.python_api import python_api_page
from docs.server_pages import routes_page, server_settings_page
from docs.sql_forms import sql_page
from docs.sql_functions import sql_functions_page
from docs.wire_sessions import wire_page

DOCS = Path(__file__).parent
NUMBERS = COURSE / "numbers.toml"
COURSE_PAGE = COURSE / "README.md"
GOLDEN = DOCS.parent / "tests" / "golden" / "lectures.json"

PRICES = [Fraction(tenths, 10) for tenths in range(1, 43)]
BIDS = (Fraction("4.1"), 1, 1, 1)
REVENUES = [float(price * sum(bid >= price for bid in BIDS)) for price in PRICES]
AUCTION = Exponential(epsilon=0.1, sensitivity=4.2).distribution(REVENUES)

HEAD = """# The course's numbers

Five public lectures on differential privacy contain worked numbers. This page recomputes each of
them with one call to Discreet and notes where a lecture has a slip. A test checks every value.

The lectures' own figures are in `tests/golden/lectures.json`, and the calls are in `numbers.toml`
beside this page. `make docs` writes the page. The scripts and notebooks in this folder answer the
lectures' exercises, each with a picture.

Each call is preceded by `from discreet.mechanisms import *`,
`from discreet.accounting import *`, `from discreet.utility import *`,
`from fractions import Fraction` and `from math import exp, log, sqrt`.
"""

GENERATED = {
    "explanation/benchmarks.md": benchmark_summary_page,
    "how-to/ask-with-an-agent.md": agent_page,
    "how-to/ask-with-psql.md": wire_page("ask-with-psql.md"),
    "how-to/pandas-and-sqlalchemy.md": wire_page("pandas-and-sqlalchemy.md"),
    "reference/sql.md": sql_page,
    "reference/sql-functions.md": sql_functions_page,
    "reference/python-api.md": python_api_page,
    "reference/routes.md": routes_page,
    "reference/server-settings.md": server_settings_page,
}
"""Pages that are computed as a whole, or whose tables are."""


def weight(law: ChoiceDistribution, price: float) -> float:
    """Return a price's probability relative to that of the last price, which nobody pays."""
    return law.pmf(PRICES.index(Fraction(str(price)))) / law.pmf(len(PRICES) - 1)


def evaluated(call: str) -> Any:
    """Return what one call of the course gives."""
    names = {
        name: getattr(part, name)
        for part in (mechanisms, accounting, utility)
        for name in part.__all__
    }
    tools = {"Fraction": Fraction, "exp": exp, "log": log, "sqrt": sqrt}
    course = {"AUCTION": AUCTION, "weight": weight}
    return eval(call, names | tools | course)  # noqa: S307 - the calls are this repository's own


def course_page() -> str:
    """Return the page of the numbers of the course."""
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    calls = tomllib.loads(NUMBERS.read_text(encoding="utf-8"))
    sections: dict[str, list[str]] = {}
    for entry in golden:
        lines = sections.setdefault(entry["source"], [])
        lines.extend(_entry(entry, calls[entry["id"]]))
    body = [line for source, lines in sections.items() for line in (f"\n## {source}\n", *lines)]
    return HEAD + "\n".join(body) + "\n"


def _entry(entry: Mapping[str, Any], own: Mapping[str, Any]) -> Iterator[str]:
    yield f"### {entry['id']}\n"
    yield f"{_sentence(entry['what'])} ({entry['formula']})\n"
    yield f"```python\n{own['call']}\n```\n"
    yield f"**{_shown(evaluated(own['call']))}**\n"
    if "why" in own:
        yield f"{_sentence(own['why'])} The formula's own value is {_shown(entry['value'])}.\n"
    if "remark" in own:
        yield f"{_ended(own['remark'])}\n"
    if "lecture_says" in entry:
        yield f"The lecture says: {_ended(_shown(entry['lecture_says']))}\n"
    if "note" in entry:
        yield f"Note: {_ended(entry['note'])}\n"


def _shown(value: object) -> str:
    match value:
        case str() | bool():
            return str(value)
        case Sequence():
            return ", ".join(_shown(each) for each in value)
        case None:
            return "none"
        case _:
            return f"{float(value):.10g}"  # type: ignore[arg-type]


def _sentence(text: str) -> str:
    return _ended(text[0].upper() + text[1:])


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else text + "."


def draw_figures(folder: Path) -> None:
    """Draw the laws of neighbouring answers for the mechanisms' pages."""
    for mechanism in (
        Geometric(epsilon=1, sensitivity=1),
        Laplace(epsilon=1, sensitivity=1),
        Staircase(epsilon=4, sensitivity=1),
        Gaussian(epsilon=1, delta=1e-6, sensitivity=1),
    ):
        mechanism.plot().save(folder / f"{type(mechanism).__name__.lower()}.svg")
    utility.design(0, 20, log(2), gain="parity").plot().save(folder / "utility_parity.png")


if __name__ == "__main__":
    COURSE_PAGE.write_text(course_page(), encoding="utf-8")
    for name, page in GENERATED.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
    draw_figures(DOCS / "figures")
    write_notebooks()
