"""`discreet demo`: a guided tour of queries on synthetic clinic data."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from shlex import quote

from rich.console import Console
from rich.rule import Rule
from rich.syntax import Syntax
from rich.text import Text

from discreet.answer import Answer, Price
from discreet.cli.console import answers, coloured, folded, printable, waiting, width_of
from discreet.cli.options import QuestionOptions
from discreet.curator import Curator
from discreet.demo import CATALOG, PATIENTS, VISITS, write_clinic
from discreet.errors import CatalogError, QuestionError
from discreet.opening import ledger_place, open_catalog

INDENT = 2
"""Columns by which queries and answers are indented."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """A query of the tour, with a remark on its answer."""

    title: str
    sql: str
    options: QuestionOptions
    remark: str

    @property
    def arguments(self) -> str:
        """The options as Python arguments."""
        if self.options.within is None:
            return f"epsilon={float(self.options.epsilon or 0):g}"
        return f"within={self.options.within}"


REGIONS = Stop(
    title="Counts and averages",
    sql="""SELECT region, COUNT(*) AS visits, AVG(age) AS age
FROM visits GROUP BY region""",
    options=QuestionOptions(epsilon=Fraction(1, 2)),
    remark="With 95% probability, the noise changes a number by at most the margin shown after ±. "
    "Four regions cost as much as one, and the average costs nothing beyond the count.",
)

WEEKS = Stop(
    title="A year, week by week",
    sql="""SELECT date_trunc('week', day) AS week, COUNT(*) AS visits
FROM visits GROUP BY week
HAVING week < DATE '2024-12-30' ORDER BY week""",
    options=QuestionOptions(epsilon=Fraction(1, 2)),
    remark="The catalog declares that all days are in 2024, so every week is shown. Fifty-two "
    "weeks cost as much as one.",
)

DIAGNOSES = Stop(
    title="Groups that are not declared",
    sql="""SELECT diagnosis, COUNT(DISTINCT patient_id) AS patients
FROM visits GROUP BY diagnosis ORDER BY patients DESC""",
    options=QuestionOptions(epsilon=Fraction(1, 2)),
    remark="Here even the names of the groups are private. Diagnoses of only a few patients are "
    "hidden. A diagnosis of a single patient would be shown with probability at most δ.",
)

ELDERLY = Stop(
    title="Ask for a margin of error",
    sql="SELECT COUNT(DISTINCT patient_id) AS elderly FROM visits WHERE age >= 65",
    options=QuestionOptions(within=Fraction(25)),
    remark="State the margin of error you need. Discreet finds the smallest ε that gives it.",
)

KINDS = Stop(
    title="A public table, and SQL on noisy results",
    sql="""WITH by_kind AS (
  SELECT c.kind, SUM(v.cost) AS cost, COUNT(*) AS visits
  FROM visits AS v JOIN clinics AS c ON v.clinic_id = c.clinic_id
  GROUP BY c.kind)
SELECT kind, cost, ROUND(cost / visits, 2) AS per_visit,
       RANK() OVER (ORDER BY cost DESC) AS place
FROM by_kind ORDER BY place""",
    options=QuestionOptions(epsilon=Fraction(1, 2)),
    remark="Calculations on noisy results cost nothing. You can use any SQL on them.",
)

NOSY = "SELECT patient_id, diagnosis FROM visits WHERE age > 95"


NEXT = (
    ("discreet ask 'SELECT COUNT(*) FROM patients' --within 50", "Spend the least ε for ±50:"),
    ("discreet explain 'SELECT MAX(cost) FROM visits' --epsilon 0.1", "Preview a query:"),
    ("discreet budget", "See the remaining budget and past queries:"),
    ("discreet shell", "Run queries interactively:"),
    ("discreet init visits.csv --output my.toml", "Draft a catalog for a file:"),
)
"""Commands to go on with in the tour's folder, and what they are for."""


def demo(output: Path) -> None:
    """Write the synthetic clinics, query them, and say how to go on with the same files."""
    console = answers()
    with waiting("generating synthetic clinics"):
        catalog = make_anew(output)
        curator = open_catalog(catalog)
    with curator:
        _welcome(console, curator, output)
        for number, stop in enumerate((REGIONS, WEEKS, DIAGNOSES, ELDERLY, KINDS), start=1):
            answer = _visit(console, curator, stop, number)
            if stop is WEEKS:
                _say(console, f"Chart: {answer.plot('visits').save(output / 'weeks.png')}")
        _rejected(console, curator)
        _repeat(console, curator)
        _preview(console, curator)
    _farewell(console, catalog)


def make_anew(output: Path, elsewhere: str = "Name another folder with --output") -> Path:
    """Return the catalog of the synthetic clinics with a new ledger; touches no other files."""
    catalog = output / "discreet.toml"
    if catalog.exists() and catalog.read_bytes() != CATALOG.encode():
        raise CatalogError(
            "This catalog is not that of discreet demo", elsewhere,
            file=str(catalog),
        )  # fmt: skip
    if not catalog.exists() and catalog.with_suffix(".ledger").exists():
        raise CatalogError(
            "This ledger is not that of discreet demo", elsewhere,
            file=str(catalog.with_suffix(".ledger")),
        )  # fmt: skip
    written = write_clinic(output)
    # Nobody is in these data, so their budget may begin again with each tour.
    place = Path(ledger_place(written))
    for each in (place, place.with_suffix(".records")):
        for end in ("", "-wal", "-shm"):
            Path(f"{each}{end}").unlink(missing_ok=True)
    return written


def _welcome(console: Console, curator: Curator, output: Path) -> None:
    _say(
        console,
        f"Synthetic clinics: {VISITS:,} visits of {PATIENTS:,} patients, in {output}/. The "
        "catalog, discreet.toml, protects each patient with all of their visits. At most 15 "
        f"visits per patient are used. The total budget is {_total(curator)}.",
    )


def _total(curator: Curator) -> str:
    policy = curator.catalog.budget
    return str(Price(epsilon=policy.epsilon, delta=policy.delta))


def _visit(console: Console, curator: Curator, stop: Stop, number: int) -> Answer:
    _title(console, f"{number} · {stop.title}")
    _show_query(console, f"ask({stop.arguments})", stop.sql)
    with waiting("running the query"):
        answer = curator.ask(stop.sql, epsilon=stop.options.epsilon, within=stop.options.within)
    _show(console, "\n".join(_short(answer.to_text(width=_inner(console)))))
    _say(console, stop.remark)
    return answer


def _short(text: str, most: int = 22) -> Iterator[str]:
    """Yield an answer's lines; of a long table, its beginning and its end."""
    lines = text.splitlines()
    end = lines.index("") if "" in lines else len(lines) - 1
    yield from lines[:end] if end < most else [*lines[:6], "…", *lines[end - 3 : end]]
    yield from lines[end:]


def _rejected(console: Console, curator: Curator) -> None:
    _title(console, "6 · A query that is rejected")
    _show_query(console, "ask(epsilon=0.5)", NOSY)
    try:
        curator.ask(NOSY, epsilon=Fraction(1, 2))
    except QuestionError as rejection:
        sentence, *lines = f"Rejected: {rejection}".splitlines()
        _show(console, "\n".join([folded(sentence, _inner(console)), *lines]), style="red")
    _say(
        console,
        "Discreet rejected this query from its SQL and the catalog. It read no data and spent "
        "nothing.",
    )


def _repeat(console: Console, curator: Curator) -> None:
    _title(console, "7 · The same query again")
    spelled = "select region, count(*) visits, avg(AGE) age from visits group by 1"
    _show_query(console, f"ask({REGIONS.arguments})", spelled)
    answer = curator.ask(spelled, epsilon=REGIONS.options.epsilon)
    _show(console, answer.to_text(width=_inner(console)))
    _say(console, "This is the saved answer. Repeating a query does not average the noise away.")


def _preview(console: Console, curator: Curator) -> None:
    sql = """SELECT sex, MEDIAN(born) AS born, COUNT(*) AS patients
FROM patients GROUP BY sex"""
    _title(console, "8 · Preview a query")
    _show_query(console, "explain(epsilon=0.2)", sql)
    explanation = curator.explain(sql, epsilon=Fraction(1, 5))
    without_sql = replace(explanation, sqls=(), afterwards="")
    _show(console, without_sql.to_text(width=_inner(console)))


def _farewell(console: Console, catalog: Path) -> None:
    place = catalog.parent
    _title(console, "Next steps")
    console.print(Text(printable(f"  In the folder {place} (cd {quote(str(place))}):")))
    for command, purpose in NEXT:
        console.print(Text(f"  {purpose}", style="dim"))
        console.print(Text(f"    {command}", style="bold"))


def _inner(console: Console) -> int:
    """Return how many columns an indented text may take."""
    return width_of(console) - INDENT


def _title(console: Console, title: str) -> None:
    console.print()
    rule = Rule(Text(title, style="bold"), align="left", style="dim")
    console.print(rule, width=width_of(console))


def _show_query(console: Console, call: str, sql: str) -> None:
    console.print(Text(f"  {call}", style="dim"))
    code = Syntax(sql, "sql", theme="ansi_dark", background_color="default").highlight(sql)
    code.rstrip()
    console.print(_indented(code, 2 * INDENT), end="\n\n")


def _show(console: Console, text: str, style: str = "") -> None:
    shown = coloured(text)
    shown.stylize(style)
    console.print(_indented(shown, INDENT))


def _indented(text: Text, columns: int) -> Text:
    """Return the text with each of its lines indented."""
    margin = Text(" " * columns)
    return Text("\n").join(margin + line if line else line for line in text.split("\n"))


def _say(console: Console, sentence: str) -> None:
    """Print sentences, folded."""
    console.print()
    console.print(Text(printable(folded(sentence, width_of(console)))))
