"""Ledgers of paid questions over the demo's tables, written once and opened ever after.

The questions, the terms and the noise are fixed. What was answered is in a file beside each ledger.
"""

import json
import sqlite3
from contextlib import closing
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

import discreet
from discreet.accounting import Budget, DiscreteGaussianEvent, PureEvent
from discreet.answer import Answer
from discreet.curator import Curator
from discreet.demo import CATALOG, write_clinic
from discreet.errors import EngineError
from discreet.ledger import Item, SqliteLedger, make_token
from tests.replay import ReplayableEntropy
from tests.stored.golden import GOLDEN

VERSION = "the demo as it was"

BASIC = CATALOG.replace("epsilon = 3.0", "epsilon = 1000").replace(
    "delta = 1e-6",
    f"""delta = 1e-3

[source]
version = "{VERSION}"

[analysts.eve]
epsilon = 50

[analysts.max]
epsilon = 50
""",
)

CONCENTRATED = BASIC.replace(
    "delta = 1e-3", 'delta = 1e-3\naccounting = "concentrated"\nneighbours = "replace"'
)

DISJOINT = """\
[[disjoint]]
tables = ["north", "south"]

[budget]
epsilon = 100

[source]
version = "of two halves"

[tables.north]
from = "north.csv"
unit = "who"
rows_per_unit = 2

[tables.north.columns]
x = { bounds = [0, 10] }

[tables.south]
from = "south.csv"
unit = "who"

[tables.south.columns]
x = { bounds = "AUTO" }
"""

CATALOGS = {"ledger_2": BASIC, "ledger_3": CONCENTRATED, "ledger_4": DISJOINT}
"""The catalog of each golden ledger."""

KINDS = (
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT COUNT(DISTINCT patient_id) AS people, COUNT(diagnosis) AS told FROM visits",
    "SELECT SUM(cost) AS s, AVG(minutes) AS a FROM visits WHERE age BETWEEN 18 AND 65",
    "SELECT VARIANCE(minutes) AS v, STDDEV_POP(cost) AS d FROM visits",
    "SELECT MEDIAN(cost) AS m, PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY age) AS p FROM visits",
    "SELECT MIN(minutes) AS lo, MAX(age) AS hi FROM visits",
    "SELECT MODE(region) AS most FROM patients",
    "SELECT COUNT(DISTINCT diagnosis) AS kinds, SUM(DISTINCT minutes) AS s FROM visits",
    "SELECT region, COUNT(*) AS n, AVG(cost) AS a, SUM(minutes) AS m FROM visits GROUP BY region",
    "SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis ORDER BY n DESC LIMIT 5",
    "SELECT sex, insurance, smokes, COUNT(*) AS n FROM patients GROUP BY sex, insurance, smokes",
    "SELECT c.kind, AVG(v.cost) AS a FROM visits v JOIN clinics c USING (clinic_id) "
    "GROUP BY c.kind",
    "SELECT p.sex, COUNT(*) AS n FROM patients p JOIN visits v USING (patient_id) GROUP BY p.sex",
    "SELECT p.sex, COUNT(*) AS n FROM patients p LEFT JOIN visits v USING (patient_id) "
    "WHERE p.born > 1990 GROUP BY p.sex",
    "SELECT COUNT(*) AS n, AVG(x) AS a FROM (SELECT patient_id, minutes AS x FROM visits "
    "UNION ALL SELECT patient_id, born - 1914 FROM patients)",
    "SELECT AVG(least(total, 2000)) AS a, COUNT(*) AS n FROM (SELECT patient_id, "
    "SUM(cost) AS total, MAX(day) AS last FROM visits GROUP BY patient_id) WHERE total > 10",
    "SELECT COUNT(*) AS n FROM (SELECT patient_id, ROW_NUMBER() OVER (PARTITION BY patient_id "
    "ORDER BY day) AS nth, LAG(minutes) OVER (PARTITION BY patient_id ORDER BY day) AS before "
    "FROM visits) WHERE nth = 2 AND before > 20",
    "SELECT COUNT(*) AS n FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)",
    "SELECT COUNT(*) AS n FROM visits WHERE diagnosis LIKE 'a%' OR region NOT ILIKE '%TH'",
    "SELECT COUNT(*) AS n FROM patients p WHERE EXISTS (SELECT 1 FROM visits v "
    "WHERE v.patient_id = p.patient_id AND v.day >= DATE '2024-11-01')",
    "SELECT CASE WHEN age < 18 THEN 'young' ELSE 'old' END AS who, COUNT(*) AS n "
    "FROM visits GROUP BY 1",
    "SELECT date_trunc('month', day) AS month, COUNT(*) AS n FROM visits GROUP BY 1",
    "SELECT 100.0 * COUNT(*) FILTER (WHERE smokes) / COUNT(*) AS share FROM patients",
)

Question = tuple[str, dict[str, Any]]
"""SQL, or the name of a column whose bounds are found, and the terms of asking."""

QUESTIONS: dict[str, list[Question]] = {
    "ledger_2": [
        *((sql, {"epsilon": 1}) for sql in KINDS),
        *((sql, {"epsilon": 2, "row_choice": "per-query"}) for sql in KINDS[:10:3]),
        (KINDS[0], {"within": 250, "confidence": 0.9}),
        ("visits.cost", {"epsilon": 1}),
        ("patients.born", {"epsilon": 1}),
        ("visits.day", {"epsilon": 1}),
        ("SELECT AVG(visit_id) AS a FROM visits", {"epsilon": 2, "find_bounds_of": ["visit_id"]}),
        (KINDS[0], {"epsilon": 3, "account": "eve"}),
        (KINDS[6], {"epsilon": 3, "account": "max"}),
        ("SELECT region, AVG(cost) AS a FROM visits GROUP BY region", {"epsilon": 0.2}),
    ],
    "ledger_3": [(sql, {"epsilon": 1}) for sql in (*KINDS[:5], *KINDS[7:10], *KINDS[15:18])],
    "ledger_4": [
        ("SELECT COUNT(*) AS n, SUM(x) AS s FROM north", {"epsilon": 2}),
        ("SELECT COUNT(*) AS n FROM south", {"epsilon": 2}),
        ("south.x", {"epsilon": 10}),
    ],
}
"""What was asked for, in this order; the last of the second ledger is read off an earlier table."""

CHARGED_ANEW = {
    KINDS[16]: "ROW_NUMBER limits a unit to one row since 0.2, so the noise is another",
}
"""Questions that are another release by now, and why."""

NARROWER: dict[str, list[Question]] = {
    "ledger_2": [
        ("SELECT region, COUNT(*) AS n FROM visits GROUP BY region", {"epsilon": 0.25}),
        ("SELECT AVG(minutes) AS a FROM visits WHERE age BETWEEN 18 AND 65", {"epsilon": 0.25}),
    ],
    "ledger_3": [("SELECT region, COUNT(*) AS n FROM visits GROUP BY region", {"epsilon": 0.25})],
    "ledger_4": [("SELECT SUM(x) AS s FROM north", {"epsilon": 0.5})],
}
"""What was never asked, and is read off a table that was kept: free."""

FAILS = "SELECT COUNT(*) AS n FROM visits WHERE minutes > 119"
"""Of Max: its query failed after it was charged, and the owner has let him ask again."""


def write_data(folder: Path, *, rows: int | None = None) -> None:
    """Write the demo's tables and two halves, all of the rows or the first of each table."""
    write_clinic(folder)
    lines = "".join(f"{n % 700},{n % 11}\n" for n in range(1000))
    for each in ("north", "south"):
        (folder / f"{each}.csv").write_text(f"who,x\n{lines}", encoding="utf-8")
    if rows is not None:
        for each in ("north", "south", "visits", "patients"):
            file = folder / f"{each}.csv"
            with file.open(encoding="utf-8") as opened:
                kept = "".join(islice(opened, rows + 1))
            file.write_text(kept, encoding="utf-8")


def demo(name: str, data: Path, ledger: Path) -> Curator:
    """Open the catalog of a golden ledger.

    The version is declared, so that rows that are not there change no name; none is read again.
    """
    catalog = data / f"{name}.toml"
    catalog.write_text(CATALOGS[name], encoding="utf-8")
    return discreet.open(catalog, ledger=ledger)


def ask(curator: Curator, question: Question) -> dict[str, Any]:
    """Return what is answered, as JSON can hold it to the last bit."""
    text, terms = question
    if " " not in text:
        found = curator.find_bounds(text, **terms)
        return {"low": str(found.low), "high": str(found.high)}
    return told(curator.ask(text, **terms))


def told(answer: Answer) -> dict[str, Any]:
    """Return columns, rows and margins of an answer."""
    content = json.loads(answer.to_json())
    return {name: content[name] for name in ("columns", "rows", "errors")}


def load_ledger(name: str, folder: Path) -> Path:
    """Put a golden ledger into a folder, and return its place."""
    place = folder / f"{name}.ledger"
    with closing(sqlite3.connect(place)) as connection:
        connection.executescript((GOLDEN.parent / f"{name}.sql").read_text(encoding="utf-8"))
    return place


def write_ledger(name: str, folder: Path) -> None:
    """Write a golden ledger and its answers; by hand only, with the version that is to be kept."""
    write_data(folder)
    place = folder / f"{name}.ledger"
    with demo(name, folder, place) as curator:
        curator._executor._entropy = ReplayableEntropy(name)
        answers = [ask(curator, each) for each in QUESTIONS[name]]
        if name == "ledger_2":
            _fail(curator)
    dump_ledger(name, place)
    lines = ",\n".join(json.dumps(each, ensure_ascii=False) for each in answers)
    (GOLDEN / f"{name}_answers.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def dump_ledger(name: str, place: Path) -> None:
    """Write a ledger as the golden file of this name."""
    with closing(sqlite3.connect(place)) as connection:
        pragmas = ("application_id", "user_version")
        values = [connection.execute(f"PRAGMA {each}").fetchone()[0] for each in pragmas]
        head = [f"PRAGMA {each} = {value};" for each, value in zip(pragmas, values, strict=True)]
        text = "\n".join([*head, *connection.iterdump()]) + "\n"
    (GOLDEN.parent / f"{name}.sql").write_text(text, encoding="utf-8")


APPROVED = '{"epsilon":"1","sql":"SELECT COUNT(*) FROM visits"}'
"""Of the fifth ledger: the query that Eve may run."""


def write_requests(folder: Path) -> None:
    """Write the fifth ledger: roles, requests and decisions, without data."""
    place = folder / "ledger_5.ledger"
    with SqliteLedger(place, budget=Budget(epsilon=10, delta=1e-6)) as ledger:
        ledger.declare_analyst("eve", epsilon=1, delta=1e-8)
        ledger.declare_analyst("rea", role="reader")
        ledger.declare_analyst("ann", role="owner")
        ledger.request_budget("eve", epsilon=4, reason="a second study")
        ledger.request_budget("eve", question=APPROVED, price="ε = 1", reason="the main result")
        ledger.request_budget("eve", question="another", price="ε = 9", reason="curiosity")
        ledger.request_budget("eve", epsilon=8, delta=1e-7, reason="a third, in São Paulo")
        ledger.decide(5, granted=True, by="ann", reason="half of it", epsilon=2)
        ledger.decide(6, granted=True, by="ann")
        ledger.decide(7, granted=False, by="owner", reason="too much")
    dump_ledger("ledger_5", place)


def write_limits(folder: Path) -> None:
    """Write the sixth ledger: verifiers, limits and an epsilon that was stated, without data."""
    place, token = folder / "ledger_6.ledger", make_token(ReplayableEntropy("ledger_6"))
    with SqliteLedger(place, budget=Budget(epsilon=10, delta=1e-6)) as ledger:
        ledger.declare_analyst(
            "eve",
            epsilon=5,
            token_hash=token.hash,
            scram=token.scram,
            per_query=0.5,
            per_day=Fraction(1, 3),
            default_epsilon=0.05,
            confirm_above=0,
        )
        ledger.declare_limits("eve", per_day=2)
        noise = DiscreteGaussianEvent(
            sensitivity_squared=Fraction(1), variance=Fraction(100), answers=1
        )
        stated = Item(question="stated", events=[noise], epsilon=Fraction(1, 4))
        ledger.charge_all([stated], account="eve")
        ledger.charge("pure", [PureEvent(epsilon=Fraction(1, 8))], account="eve")
    dump_ledger("ledger_6", place)


def _fail(curator: Curator) -> None:
    """Let a question of Max fail after it was charged, and let him ask again."""
    engine, run = curator._engine, curator._engine.run

    def fails(*_: object) -> Any:
        raise EngineError("memory")

    engine.run = fails  # type: ignore[method-assign, assignment]
    try:
        curator.ask(FAILS, epsilon=1, account="max")
    except EngineError:
        curator.resume("max")
    engine.run = run  # type: ignore[method-assign]
